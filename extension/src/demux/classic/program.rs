//! What a program is: instructions of which nothing can go wrong that isn't said here.

use alloc::vec::Vec;
use core::fmt;

use crate::demux::test::Size;

/// An instruction as Linux (`struct sock_filter`) and libpcap (`struct bpf_insn`) have it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instruction {
    /// What is done.
    pub code: u16,
    /// How many instructions are left out if a condition holds,
    pub jt: u8,
    /// and if not.
    pub jf: u8,
    /// A number.
    pub k: u32,
}

/// A program that was found to be one: it ends, whatever the packet, and touches nothing but that and its own scratch
/// memory, of which it reads only what it wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub(super) steps: Vec<Step>,
}

/// Why something is no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The instruction.
    pub at: usize,
    /// What is wrong with it.
    pub why: &'static str,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "instruction {}: {}", self.at, self.why)
    }
}

/// How much scratch memory there is.
pub(super) const SCRATCH: usize = 16;

/// One of the two registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Register {
    A,
    X,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Load(Register, Source),
    Store(Register, usize),
    Compute(Operation, Operand),
    Negate,
    /// Leaves out so many.
    Jump(usize),
    JumpIf {
        comparison: Comparison,
        operand: Operand,
        then: usize,
        otherwise: usize,
    },
    /// With a number, or else with A.
    Return(Option<u32>),
    /// To one register from the other.
    Move(Register),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Number(u32),
    Length,
    Scratch(usize),
    At {
        offset: u32,
        size: Size,
    },
    /// As many bytes farther as X says.
    Beyond {
        offset: u32,
        size: Size,
    },
    /// Four times the low four bits of the byte there.
    HeaderLength(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Number(u32),
    X,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Or,
    And,
    Xor,
    ShiftLeft,
    ShiftRight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Above,
    AboveOrEqual,
    /// They have a bit in common.
    Common,
}

impl Program {
    /// Programs have at most so many instructions.
    pub const LONGEST: usize = 4096;
}

impl Operation {
    /// As libpcap does it. Nothing comes of a division by zero.
    pub fn of(self, a: u32, b: u32) -> Option<u32> {
        Some(match self {
            Operation::Add => a.wrapping_add(b),
            Operation::Sub => a.wrapping_sub(b),
            Operation::Mul => a.wrapping_mul(b),
            Operation::Div => a.checked_div(b)?,
            Operation::Mod => a.checked_rem(b)?,
            Operation::Or => a | b,
            Operation::And => a & b,
            Operation::Xor => a ^ b,
            Operation::ShiftLeft => a.checked_shl(b).unwrap_or(0),
            Operation::ShiftRight => a.checked_shr(b).unwrap_or(0),
        })
    }
}

impl Comparison {
    pub fn holds(self, a: u32, b: u32) -> bool {
        match self {
            Comparison::Equal => a == b,
            Comparison::Above => a > b,
            Comparison::AboveOrEqual => a >= b,
            Comparison::Common => a & b != 0,
        }
    }
}
