//! Values that a function need not load again: addresses of elements, and heads of arrays.

use std::collections::HashMap;

use cranelift_codegen::ir::Value;

use crate::mir::{Base, Reg};

/// Addresses of elements, by the array's address (base and offset) and the index registers.
pub(super) type KnownElements = HashMap<(Base, i32, Vec<Reg>), Value>;

/// The head of an array, loaded once.
#[derive(Clone)]
pub(super) struct ArrayValues {
    /// The array itself, 0 if it has not been made; `None` if it is known to have been made.
    pub(super) made: Option<Value>,
    pub(super) elements: Value,
    /// The size of each dimension.
    pub(super) sizes: Sizes,
}

/// The sizes of an array.
#[derive(Clone)]
pub(super) enum Sizes {
    /// Read at run time.
    Loaded(Vec<Value>),
    /// The sizes that the array has if it has been made.
    Known(Vec<i64>),
}
