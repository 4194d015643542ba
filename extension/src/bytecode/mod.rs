//! eBPF as RFC 9669 has it: instructions, and their form in bytes.

mod decode;
mod encode;
mod instruction;
mod program;
mod slot;

pub use decode::decode;
pub use instruction::{
    Alu, Atomic, Condition, Constant, Error, Instruction, Operand, Order, Register, Sign, Size, Width,
};
pub use program::Program;
pub use slot::Slot;
