//! eBPF (RFC 9669): instructions, and their forms in bytes, in text and in object files.

mod assemble;
mod btf;
mod decode;
mod disassemble;
mod encode;
mod file;
mod instruction;
mod names;
mod object;
mod program;
mod slot;

pub use assemble::assemble;
pub use btf::Definition;
pub use decode::decode;
pub use disassemble::disassemble;
pub use instruction::{
    Alu, Atomic, Condition, Constant, Error, Instruction, Operand, Order, Register, Sign, Size, Width,
};
pub use object::{Map, OWN_LICENCE, Object, constant, licence, link, load};
pub use program::Program;
pub use slot::Slot;
