//! The engines that run verified programs: an interpreter, and a compiler to machine code. Both have the same
//! semantics, and run in the same [`Context`].

mod computation;
mod context;
mod executable;
mod interpreter;
#[cfg(target_arch = "x86_64")]
pub mod jit;
mod memory;
mod prepare;
mod steps;
#[cfg(all(test, unix, target_arch = "x86_64"))]
mod tests;

pub use context::{Answer, Context, Function, Helper, Platform, State, Stop};
pub(crate) use executable::Executable;
pub use interpreter::Interpreter;
pub use memory::Memory;
