//! The task: the program, the entry, and the context.

use super::error::Error;
use super::sense;
use crate::context::Context;
use crate::ir::{FunctionId, Global, Module, Param};

/// A program, its function to be specialised, and the known facts.
pub(super) struct Task<'m> {
    pub module: &'m Module,
    pub context: &'m Context,
    pub entry: FunctionId,
    /// The parameters of the entry, with the names of the source.
    pub params: Vec<Param>,
}

impl<'m> Task<'m> {
    pub fn new(module: &'m Module, context: &'m Context) -> Result<Task<'m>, Error> {
        let entry = module
            .function(&context.entry)
            .ok_or_else(|| Error(format!("there is no function {} in the program", context.entry)))?;
        let names = module.parameter_names(entry);
        let params = module.functions[entry.0 as usize].params.iter().zip(names);
        let params: Vec<Param> = params.map(|(param, name)| Param { name, ..param.clone() }).collect();
        sense::check(module, context, &params)?;
        Ok(Task { module, context, entry, params })
    }

    /// Whether a variable's initial value in this module is the one that the program runs with.
    pub fn is_settled(&self, variable: &Global) -> bool {
        !self.module.replaceable.contains(&variable.name) || self.is_said_constant(variable)
    }

    /// Whether the context says that a variable is constant.
    pub fn is_said_constant(&self, variable: &Global) -> bool {
        self.context.global.get(&*variable.name).is_some_and(|said| said.constant)
    }
}
