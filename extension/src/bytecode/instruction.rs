//! Instructions, independent of their encoding: all of RFC 9669, and calls of an address (`callx`), which compilers
//! emit too.

// Fields have the RFC's names.
#![allow(missing_docs)]

use alloc::{format, string::String};
use core::fmt;

/// An instruction, with the semantics of the RFC. What the RFC leaves to the machine is documented here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// `destination = destination OPERATION source`; of `Mov`, `destination = source`.
    Alu { width: Width, operation: Alu, destination: Register, source: Operand },
    /// `destination = -destination`.
    Negate { width: Width, destination: Register },
    /// `destination = source`, sign-extended from its low bits. `from` is narrower than `width`.
    Extend { width: Width, from: Size, destination: Register, source: Register },
    /// Changes the byte order of a register's low bits; those above become 0. Not of single bytes.
    Swap { order: Order, size: Size, destination: Register },
    /// `destination = constant`. It takes two slots, every other instruction one.
    Constant { destination: Register, constant: Constant },
    /// `destination = *(SIZE *)(base + offset)`, with zeros above, or with its sign.
    Load { sign: Sign, size: Size, destination: Register, base: Register, offset: i16 },
    /// `*(SIZE *)(base + offset) = source`.
    Store { size: Size, base: Register, offset: i16, source: Operand },
    /// `*(WIDTH *)(base + offset) OPERATION= source`; see [`Atomic`] for what it leaves in registers.
    Atomic { width: Width, operation: Atomic, base: Register, offset: i16, source: Register },
    /// Goes `offset` slots on from the next instruction. The width says only how it is written: `ja` (64), `ja32` (32).
    Jump { width: Width, offset: i32 },
    /// Jumps if `left CONDITION right`.
    JumpIf { width: Width, condition: Condition, left: Register, right: Operand, offset: i16 },
    /// Calls the helper with a number. It takes r1 to r5, returns r0, and leaves r1 to r5 undefined.
    CallHelper { number: u32 },
    /// Calls the function that begins `offset` slots from the next instruction. It has its own stack frame, and
    /// preserves r6 to r9.
    CallLocal { offset: i32 },
    /// Calls a register: a function if it holds an address of code ([`Constant::Code`]), else the helper with that
    /// number.
    CallRegister { target: Register },
    /// Returns r0 to the caller; in the outermost function, ends the program.
    Exit,
}

/// r0 to r10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(u8);

impl Register {
    /// r10, the end of the stack frame. It can only be read.
    pub const FRAME: Register = Register(10);
    /// The number of registers.
    pub const COUNT: usize = 11;

    /// The register with a number from 0 to 10.
    pub const fn new(number: u8) -> Option<Register> {
        if (number as usize) < Self::COUNT { Some(Register(number)) } else { None }
    }

    /// Its number, below [`Register::COUNT`].
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Its number as it stands in a slot.
    pub const fn number(self) -> u8 {
        self.0
    }
}

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "%r{}", self.0)
    }
}

/// Widths of arithmetic. The upper half of a 32-bit result is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    W32,
    W64,
}

/// Sizes of loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Size {
    Byte,
    Half,
    Word,
    Double,
}

impl Size {
    /// The number of bytes: 1, 2, 4 or 8.
    pub const fn bytes(self) -> usize {
        1 << self as usize
    }
}

impl From<Width> for Size {
    fn from(width: Width) -> Size {
        match width {
            Width::W32 => Size::Word,
            Width::W64 => Size::Double,
        }
    }
}

/// How loaded bits are extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Zero,
    Extend,
}

/// The second operand, or what is stored. Immediates are sign-extended to 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    Register(Register),
    Immediate(i32),
}

/// Arithmetic. It wraps around; shifts take as many bits of their operand as the width has (5 or 6). A number divided
/// by 0 is 0, and its remainder is itself; the smallest signed number divided by -1 is itself, with the remainder 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alu {
    Add,
    Sub,
    Mul,
    Div,
    SignedDiv,
    Mod,
    SignedMod,
    Or,
    And,
    Xor,
    ShiftLeft,
    ShiftRight,
    ShiftRightSigned,
    Mov,
}

/// Byte orders. The machine's own is little-endian, so [`Order::Little`] only clears what is above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Little,
    Big,
    /// The other one, whichever the machine has (`bswap`).
    Swapped,
}

/// When to jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Equal,
    NotEqual,
    /// `left & right` isn't 0.
    AnyBit,
    Above,
    AboveOrEqual,
    Below,
    BelowOrEqual,
    SignedGreater,
    SignedGreaterOrEqual,
    SignedLess,
    SignedLessOrEqual,
}

/// Atomic operations on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    Add,
    Or,
    And,
    Xor,
    /// This and the following ones load the old value into the source register.
    FetchAdd,
    FetchOr,
    FetchAnd,
    FetchXor,
    /// Stores the source.
    Exchange,
    /// Stores the source if memory equals r0; the old value goes to r0, not to the source.
    CompareExchange,
}

impl Atomic {
    /// The register that it writes, given its source.
    pub fn fetches_into(self, source: Register) -> Option<Register> {
        match self {
            Atomic::Add | Atomic::Or | Atomic::And | Atomic::Xor => None,
            Atomic::CompareExchange => Some(Register(0)),
            _ => Some(source),
        }
    }
}

/// The constants of two slots (section 5.4). The loader numbers maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    Number(u64),
    /// A map, to give to helpers.
    MapByFd(i32),
    /// An address in a map's first value.
    ValueByFd {
        map: i32,
        offset: i32,
    },
    /// The address of a variable of the platform.
    Variable(i32),
    /// The address of the function that begins so many slots from the next instruction, for `callx`.
    Code(i32),
    MapByIndex(i32),
    ValueByIndex {
        map: i32,
        offset: i32,
    },
}

impl Instruction {
    /// How many slots it takes.
    pub fn slots(self) -> usize {
        if matches!(self, Instruction::Constant { .. }) { 2 } else { 1 }
    }

    /// The register that it writes; of calls, r0.
    pub fn writes(self) -> Option<Register> {
        use Instruction::*;
        match self {
            Alu { destination, .. }
            | Negate { destination, .. }
            | Extend { destination, .. }
            | Swap { destination, .. }
            | Constant { destination, .. }
            | Load { destination, .. } => Some(destination),
            Atomic { operation, source, .. } => operation.fetches_into(source),
            CallHelper { .. } | CallLocal { .. } | CallRegister { .. } => Some(Register(0)),
            Store { .. } | Jump { .. } | JumpIf { .. } | Exit => None,
        }
    }

    /// The slot that an instruction in slot `at` may jump to; of calls and addresses of code, where the function
    /// begins. It may be outside the program.
    pub fn target(self, at: usize) -> Option<i64> {
        let offset = match self {
            Instruction::Jump { offset, .. } | Instruction::CallLocal { offset } => offset,
            Instruction::JumpIf { offset, .. } => offset.into(),
            Instruction::Constant { constant: Constant::Code(offset), .. } => offset,
            _ => return None,
        };
        // An address of code counts from its first slot, as Linux has it.
        Some(at as i64 + 1 + i64::from(offset))
    }

    /// Whether the next one may be done after it.
    pub fn falls_through(self) -> bool {
        !matches!(self, Instruction::Exit | Instruction::Jump { .. })
    }
}

/// What is wrong with a program's bytes or text, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The slot, or the line of text.
    pub at: usize,
    /// What is wrong there, and what to do.
    pub what: String,
}

impl Error {
    pub(super) fn in_slot(at: usize, what: impl fmt::Display) -> Error {
        Error { at, what: format!("instruction {at}: {what}") }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl core::error::Error for Error {}
