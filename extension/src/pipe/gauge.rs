//! Gauges: widths of words.

use core::fmt;

/// The width of a pipe's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gauge {
    /// A byte.
    Bits8,
    /// Two bytes.
    Bits16,
    /// Four bytes.
    Bits32,
    /// Eight bytes.
    Bits64,
}

impl Gauge {
    /// All gauges, the narrowest first.
    pub const ALL: [Gauge; 4] = [Gauge::Bits8, Gauge::Bits16, Gauge::Bits32, Gauge::Bits64];

    /// Bytes of a word: 1, 2, 4 or 8.
    pub const fn bytes(self) -> usize {
        1 << self as usize
    }

    /// Bits of a word.
    pub const fn bits(self) -> u32 {
        8 << self as u32
    }

    /// The next wider one, or the widest.
    pub const fn wider(self) -> Gauge {
        match self {
            Gauge::Bits8 => Gauge::Bits16,
            Gauge::Bits16 => Gauge::Bits32,
            Gauge::Bits32 | Gauge::Bits64 => Gauge::Bits64,
        }
    }

    /// The largest word: all bits are 1.
    pub const fn most(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// The sign bit.
    pub const fn sign(self) -> u64 {
        1 << (self.bits() - 1)
    }

    /// A word as a signed number.
    pub const fn signed(self, word: u64) -> i64 {
        let above = 64 - self.bits();
        (word << above) as i64 >> above
    }

    /// The word at the beginning of bytes, in the machine's byte order. Missing bytes are 0.
    pub fn read(self, bytes: &[u8]) -> u64 {
        let mut word = [0; 8];
        let there = bytes.len().min(self.bytes());
        word[..there].copy_from_slice(&bytes[..there]);
        u64::from_le_bytes(word)
    }

    /// Writes a word, or as much of it as fits.
    pub fn write(self, bytes: &mut [u8], word: u64) {
        let there = bytes.len().min(self.bytes());
        bytes[..there].copy_from_slice(&word.to_le_bytes()[..there]);
    }
}

impl fmt::Display for Gauge {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} bits", self.bits())
    }
}
