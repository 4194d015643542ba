//! Validated programs of classic BPF.

use alloc::vec::Vec;
use core::fmt;

use crate::demux::test::Size;

/// An instruction, as Linux's `struct sock_filter` and libpcap's `struct bpf_insn`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instruction {
    /// The operation.
    pub code: u16,
    /// How many instructions are skipped if the condition holds.
    pub jt: u8,
    /// How many instructions are skipped if the condition doesn't hold.
    pub jf: u8,
    /// The operand.
    pub k: u32,
}

/// A valid program: it ends for every packet, and accesses only the packet and its own scratch memory, of which it
/// reads only what it wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub(super) steps: Vec<Step>,
}

/// Why a program is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The index of the instruction.
    pub at: usize,
    /// What is wrong with it.
    pub why: &'static str,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "instruction {}: {}", self.at, self.why)
    }
}

/// Words of scratch memory.
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
    /// Skips so many steps.
    Jump(usize),
    JumpIf {
        comparison: Comparison,
        operand: Operand,
        then: usize,
        otherwise: usize,
    },
    /// Returns a number, or A.
    Return(Option<u32>),
    /// Copies the other register to this one.
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
    /// At an offset that X is added to.
    Beyond {
        offset: u32,
        size: Size,
    },
    /// Four times the low four bits of the byte at an offset: the length of an IPv4 header.
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
    /// The operands have a bit in common.
    Common,
}

impl Program {
    /// The most instructions of a program.
    pub const LONGEST: usize = 4096;
}

impl Operation {
    /// Computes as libpcap does. A division by zero has no result.
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
