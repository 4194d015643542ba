//! Ready-made pipes.

use super::body::{Comparison, Register};
use super::{Attributes, Gauge, Pipe, Word, Writer};

const KEEPS: Attributes = Attributes { commutative: false, keeps: true };
const COMMUTATIVE_AND_KEEPS: Attributes = Attributes { commutative: true, keeps: true };

fn made(name: &str, input: Gauge, output: Gauge, it: Attributes, write: impl FnOnce(&Writer)) -> Pipe {
    Pipe::new(name, input, output, it, write).expect("the pipes that are there are right")
}

fn sum(initial: u64) -> Register {
    Register { width: Gauge::Bits32, initial, persists: true }
}

/// Passes words through unchanged. A list that consists only of it copies.
pub fn copy() -> Pipe {
    made("copy", Gauge::Bits8, Gauge::Bits8, COMMUTATIVE_AND_KEEPS, |_| {})
}

/// Sums words of 32 bits for the Internet checksum (RFC 1071). [`folded`] makes the 16 bits of a header of its
/// register.
pub fn internet_checksum() -> Pipe {
    made("Internet checksum", Gauge::Bits32, Gauge::Bits32, COMMUTATIVE_AND_KEEPS, |it| {
        let register = it.register(sum(0));
        register.becomes(register.value().end_around_add(it.input()));
    })
}

/// The Internet checksum for a header, of [`internet_checksum`]'s register. It is in the machine's byte order, to be
/// stored as it is.
pub fn folded(sum: u64) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16 & 0xffff);
    !((once & 0xffff) + (once >> 16)) as u16
}

fn swap(name: &str, gauge: Gauge) -> Pipe {
    made(name, gauge, gauge, Attributes::default(), |it| it.output(it.input().swapped()))
}

/// Swaps the bytes of words of 16 bits.
pub fn swap16() -> Pipe {
    swap("byte swap of 16 bits", Gauge::Bits16)
}

/// Swaps the bytes of words of 32 bits.
pub fn swap32() -> Pipe {
    swap("byte swap of 32 bits", Gauge::Bits32)
}

/// Swaps the bytes of words of 64 bits.
pub fn swap64() -> Pipe {
    swap("byte swap of 64 bits", Gauge::Bits64)
}

/// Exclusive or with a key of 64 bits, the pipe's register.
pub fn xor(key: u64) -> Pipe {
    made("XOR cipher", Gauge::Bits64, Gauge::Bits64, Attributes::default(), |it| {
        let key = it.register(Register { width: Gauge::Bits64, initial: key, persists: true });
        it.output(it.input() ^ key.value());
    })
}

/// CRC32C (Castagnoli; RFC 3720). Packets contain the complement (`!`) of its register.
pub fn crc32c() -> Pipe {
    made("CRC32C", Gauge::Bits8, Gauge::Bits8, KEEPS, |it| {
        let register = it.register(sum(0xffff_ffff));
        register.becomes(register.value().crc32c(it.input()));
    })
}

/// Adler-32 (RFC 1950).
pub fn adler32() -> Pipe {
    made("Adler-32", Gauge::Bits8, Gauge::Bits8, KEEPS, |it| {
        let register = it.register(sum(1));
        register.becomes(register.value().adler32(it.input()));
    })
}

/// Counts each byte, in its table.
pub fn histogram() -> Pipe {
    made("histogram", Gauge::Bits8, Gauge::Bits8, COMMUTATIVE_AND_KEEPS, |it| {
        let table = it.table(256);
        table.set(it.input(), table.at(it.input()) + 1);
    })
}

/// Turns each byte into two hexadecimal digits, in lower case.
pub fn hex() -> Pipe {
    made("hex", Gauge::Bits8, Gauge::Bits16, Attributes::default(), |it| {
        it.output(digit(it, it.input() >> 4).joined(digit(it, it.input() & 15)));
    })
}

fn digit<'w>(it: &'w Writer, number: Word<'w>) -> Word<'w> {
    let letters = it.number(Gauge::Bits8, u64::from(b'a' - 10));
    number + number.select(Comparison::SignedLess, 10, it.number(Gauge::Bits8, u64::from(b'0')), letters)
}

/// Turns two hexadecimal digits, of either case, into a byte. Its register isn't 0 afterwards if there was anything but
/// digits.
pub fn from_hex() -> Pipe {
    made("from hex", Gauge::Bits16, Gauge::Bits8, Attributes::default(), |it| {
        let wrong = it.register(Register { width: Gauge::Bits8, initial: 0, persists: true });
        let (high, wrong_high) = number(it, it.input().narrowed(Gauge::Bits8));
        let (low, wrong_low) = number(it, (it.input() >> 8).narrowed(Gauge::Bits8));
        it.output(high << 4 | low);
        wrong.becomes(wrong.value() | (wrong_high | wrong_low));
    })
}

/// The value of a digit, and a number that isn't 0 if it is none.
fn number<'w>(it: &'w Writer, digit: Word<'w>) -> (Word<'w>, Word<'w>) {
    let zero = it.number(Gauge::Bits8, 0);
    let decimal = digit - u64::from(b'0');
    let letter = (digit | 0x20) - u64::from(b'a');
    let one = it.number(Gauge::Bits8, 1);
    let wrong = letter.select(Comparison::Below, 6, zero, one);
    let wrong = decimal.select(Comparison::Below, 10, zero, wrong);
    (decimal.select(Comparison::Below, 10, decimal, (letter + 10) & 15), wrong)
}
