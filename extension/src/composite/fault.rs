//! What can go wrong in a program.

use core::fmt;

/// What went wrong, as the language calls it (section 10 of its reference).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Fault {
    /// A number isn't an INTEGER.
    Overflow = 0,
    /// Of an INTEGER.
    DivisionByZero = 1,
    /// An element or a part of a TEXT that isn't there.
    IndexOutOfBounds = 2,
    /// `ASSERT`
    AssertionFailed = 3,
    /// A call failed: its communication is lost, or its protocol doesn't allow it.
    ProtocolViolation = 4,
    /// Texts of more bytes than the program may hold.
    OutOfMemory = 5,
    /// A value that the other type hasn't.
    InvalidConversion = 6,
    /// A step of 0, a negative length.
    InvalidArgument = 7,
}

impl Fault {
    /// All of them, by number.
    pub const ALL: [Fault; 8] = [
        Fault::Overflow,
        Fault::DivisionByZero,
        Fault::IndexOutOfBounds,
        Fault::AssertionFailed,
        Fault::ProtocolViolation,
        Fault::OutOfMemory,
        Fault::InvalidConversion,
        Fault::InvalidArgument,
    ];

    /// The one with a number.
    pub fn from_number(number: u32) -> Option<Fault> {
        Self::ALL.get(number as usize).copied()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::Overflow => "overflow",
            Fault::DivisionByZero => "division by zero",
            Fault::IndexOutOfBounds => "index out of bounds",
            Fault::AssertionFailed => "assertion failed",
            Fault::ProtocolViolation => "protocol violation",
            Fault::OutOfMemory => "out of memory",
            Fault::InvalidConversion => "invalid conversion",
            Fault::InvalidArgument => "invalid argument",
        })
    }
}
