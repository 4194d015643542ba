//! The context of a body that passes need.

use crate::ir::{FunctionId, Module, Param};

/// What is around a body: what it calls and what its parameters are.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The module that the body belongs to.
    pub module: &'a Module,
    /// The parameters of its function.
    pub params: &'a [Param],
}

impl<'a> Surroundings<'a> {
    /// What is around the body of a function of a module.
    pub fn of(module: &'a Module, function: FunctionId) -> Surroundings<'a> {
        Surroundings { module, params: &module.functions[function.0 as usize].params }
    }
}
