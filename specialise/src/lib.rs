//! The specialiser, after *copy elimination* (Volanschi et al.): a partial evaluator for layered C code, given as LLVM
//! IR text. The residual code no longer contains what follows from a known context, nor the buffers between the layers.
//!
//! The stages: [`parse`] reads IR files, [`link`] joins them into one [`ir::Module`], `context` gives the known facts,
//! `evaluate` makes the residual module, [`passes`] tidy it (`tidy`) and turn long runs of equal code into loops
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
