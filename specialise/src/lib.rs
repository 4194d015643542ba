//! The specialiser, after *copy elimination* (Volanschi): a partial evaluator for layered C code, given as LLVM IR
//! text. The residual code does without everything that follows from a known context, and without the buffers between
//! the layers.
//!
//! The stages: [`parse`] reads IR files, [`link`] makes one [`ir::Module`] of them, `context` says what is known,
//! `evaluate` makes the residual module, [`passes`] tidy it (`tidy`) and make loops of long runs of equal copies
//! (`reroll`), and [`print`](mod@print) and [`c`] write it as LLVM IR or as C. [`verify`] checks bodies between the
//! stages. `native/`, which makes machine code, is a package of its own: only its users link Cranelift.

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
