//! What a function need not load again: addresses of elements, and heads of arrays.

use std::collections::HashMap;

use cranelift_codegen::ir::Value;

use crate::mir::{Base, Reg};

/// Addresses of elements, by the array's own place and the registers of the indices.
pub(super) type KnownElements = HashMap<(Base, i32, Vec<Reg>), Value>;

/// What describes an array, loaded once.
#[derive(Clone)]
pub(super) struct ArrayValues {
    /// The array itself, 0 if it is not there; none if it is known to be there.
    pub(super) made: Option<Value>,
    pub(super) elements: Value,
    /// The size of each dimension.
    pub(super) sizes: Sizes,
}

/// The sizes of an array.
#[derive(Clone)]
pub(super) enum Sizes {
    /// What they are at run time.
    Loaded(Vec<Value>),
    /// What they are if it is there.
    Known(Vec<i64>),
}
