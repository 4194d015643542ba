//! The context of a body that passes need.

use crate::ir::{FunctionId, Module, Param};

/// The context of a body: its module, and the parameters of its function.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The module that the body belongs to.
    pub module: &'a Module,
    /// The parameters of its function.
    pub params: &'a [Param],
}

impl<'a> Surroundings<'a> {
    /// The context of a function's body.
    pub fn of(module: &'a Module, function: FunctionId) -> Surroundings<'a> {
        Surroundings { module, params: &module.functions[function.0 as usize].params }
    }
}
