//! The IR that the specialiser reads and writes: the part of LLVM's that C needs, with opaque pointers, and with
//! addresses computed to bytes. The residual program is IR too: it can be printed as LLVM IR or as C, compiled by
//! Cranelift, and specialised again.
//!
//! It omits names of types, metadata other than source places, and flags that only matter to an optimiser (`nsw`,
//! `nuw`, `exact`, `inbounds`, fast-math). Without them a program with defined behaviour computes the same.

mod attributes;
mod body;
mod consts;
mod function;
mod ids;
mod module;
mod ops;
mod places;
mod types;
mod unsupported;
mod ways;

pub use attributes::{CallAttributes, Effects, Extension, ParamAttributes};
pub use body::{Block, Body, Instruction, Terminator};
pub use consts::{Const, signed};
pub use function::{Code, Function, Param, Source, Unread};
pub use ids::{BlockId, FunctionId, GlobalId, ValueId};
pub use module::{Alias, Global, Module};
pub use ops::{Access, Binary, Cast, Compare, FloatCompare, Op, Operand};
pub use places::{Place, PlaceId, Places};
pub use types::{Layout, Type};
pub use unsupported::Unsupported;
