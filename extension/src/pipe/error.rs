//! Errors of pipes.

use alloc::string::{String, ToString};
use core::fmt;

/// Why a pipe or a list is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(String);

impl Refusal {
    pub(super) fn new(what: impl fmt::Display) -> Refusal {
        Refusal(what.to_string())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Refusal {}

/// Why a pass isn't run, or a register not accessed. Nothing has happened then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The destination has room for fewer bytes than would be written.
    Room {
        /// Bytes of room.
        there: usize,
        /// Bytes that would be written.
        needed: usize,
    },
    /// The pass was compiled to read only, and is given a destination; or to write, and has none.
    Mode,
    /// The registers belong to another pass.
    Registers,
    /// There is no such register or table.
    Missing,
    /// A value is wider than the register.
    Wide,
    /// The destination begins within the source, so that bytes would have to be taken in reverse, and a pipe isn't
    /// commutative.
    Backwards,
    /// Source and destination overlap, and the length changes or there are gaps.
    Overlap,
    /// The source or destination isn't within the memory.
    Outside,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Fault::Room { there, needed } => {
                return write!(
                    f,
                    "the destination has {there} bytes, and {needed} would be written: make it larger"
                );
            }
            Fault::Mode => {
                "a pass that only reads has no destination, and one that writes needs one: compile it in the other mode"
            }
            Fault::Registers => "the registers are another pass's: take those that this one gives",
            Fault::Missing => "the pipe has no such register or table, or isn't in the list",
            Fault::Wide => "the value is wider than the register",
            Fault::Backwards => {
                "the destination lies behind the beginning of the source within it, so the bytes had to be \
                 taken from the last one on; a pipe of the list isn't commutative"
            }
            Fault::Overlap => {
                "source and destination overlap, which isn't possible where the length changes, or with \
                 gaps: take a buffer"
            }
            Fault::Outside => "the source or the destination lies outside the memory",
        })
    }
}

impl core::error::Error for Fault {}
