//! Run-time errors of programs.

use core::fmt;

/// A run-time error, by the language's name for it (language reference, section 10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Fault {
    /// A number isn't an INTEGER.
    Overflow = 0,
    /// An INTEGER is divided by 0.
    DivisionByZero = 1,
    /// An element or a part of a TEXT is out of range.
    IndexOutOfBounds = 2,
    /// `ASSERT`
    AssertionFailed = 3,
    /// A call failed: its communication is lost, or its protocol doesn't allow it.
    ProtocolViolation = 4,
    /// The program's texts take more bytes than it may hold.
    OutOfMemory = 5,
    /// A value that the target type doesn't have.
    InvalidConversion = 6,
    /// A step of 0, a negative length.
    InvalidArgument = 7,
    /// A value for which CASE has no branch.
    NoBranch = 8,
}

impl Fault {
    /// All of them, by number.
    pub const ALL: [Fault; 9] = [
        Fault::Overflow,
        Fault::DivisionByZero,
        Fault::IndexOutOfBounds,
        Fault::AssertionFailed,
        Fault::ProtocolViolation,
        Fault::OutOfMemory,
        Fault::InvalidConversion,
        Fault::InvalidArgument,
        Fault::NoBranch,
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
            Fault::NoBranch => "no branch",
        })
    }
}
