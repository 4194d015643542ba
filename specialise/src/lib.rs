//! The specialiser (paper 001, Tempo): layered C code, as LLVM IR text, becomes residual code in which everything that
//! follows from a known context has been evaluated away, and the buffers between the layers with it.
//!
//! The way through it: [`parse`] reads IR files, [`link`] makes one [`ir::Module`] of them, `context` says what is
//! known, `evaluate` makes the residual module, [`passes`] clean it up (`tidy`) and turn long runs of equal copies into
//! loops (`reroll`), and [`print`](mod@print) and [`c`] write it as LLVM IR or as C. What makes machine code of it is a
//! package of its own, `native/`, so that only those link Cranelift who need it.

mod account;
pub mod c;
pub mod context;
pub mod evaluate;
pub mod explain;
mod extract;
pub mod graph;
pub mod ir;
pub mod link;
mod operands;
pub mod parse;
pub mod passes;
pub mod print;
mod reroll;
mod tidy;
pub mod verify;
pub use context::Context;
pub use evaluate::{Specialised, specialise};
