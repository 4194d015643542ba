//! The code that the specialiser reads and writes: LLVM's, as far as C needs it, with opaque pointers and with every
//! address already computed to bytes. The residual program is made of the same types, so that what comes out can be
//! printed as LLVM IR, as C, or handed to Cranelift, and specialised again.
//!
//! It refuses to know names of types, metadata other than places, and the flags that only an optimiser reads (`nsw`,
//! `nuw`, `exact`, `inbounds`, fast-math): leaving them out never changes what a defined program computes.

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
