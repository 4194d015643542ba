//! [`drystone_specialise::ir`] to machine code of this process, by Cranelift: what a residual program is run as when no C compiler
//! shall be asked.
//!
//! It refuses to know vectors, room on the stack of a size that isn't known, variables of threads and functions that
//! walk their variable arguments: each is an error that names the function and the instruction.

mod abi;
mod arithmetic;
mod atomics;
mod calls;
mod copies;
mod data;
mod error;
mod flow;
mod function;
mod intrinsics;
mod linear;
mod memory;
mod places;
mod shape;
#[cfg(test)]
mod tests;
mod unit;
mod values;

use drystone_specialise::ir::{FunctionId, GlobalId, Module};
pub use error::NativeError;
use error::Refusal;
use memory::Loaded;
use std::collections::HashMap;
use unit::Unit;

/// A module as machine code. The code and its variables are there until this value is dropped: whoever keeps one of
/// the addresses for longer, or calls what he got after that, calls into nothing.
#[derive(Debug)]
pub struct Native {
    functions: HashMap<String, *const u8>,
    globals: HashMap<String, *const u8>,
    /// Holds the memory that the addresses lie in.
    _loaded: Loaded,
}

impl Native {
    /// The address of a function that the module defines. It follows the C calling convention (System V).
    pub fn function(&self, name: &str) -> Option<*const u8> {
        self.functions.get(name).copied()
    }

    /// The address of a global variable that the module defines.
    pub fn global(&self, name: &str) -> Option<*const u8> {
        self.globals.get(name).copied()
    }
}

/// Makes machine code of all that a module defines, as it stands: [`drystone_specialise::passes::polish_for_machine`] makes that quicker.
/// What it only declares is asked of `symbols` first, then of this process (`dlsym`).
pub fn load(module: &Module, symbols: &dyn Fn(&str) -> Option<*const u8>) -> Result<Native, NativeError> {
    let mut unit = Unit::new(module, symbols)?;
    for (at, global) in module.globals.iter().enumerate() {
        if let Some(initial) = &global.initial {
            data::define(&mut unit, GlobalId(at as u32), global, initial)
                .map_err(|refusal| refusal.in_global(&global.name))?;
        }
    }
    let mut workshop = function::Workshop::default();
    for (at, function) in module.functions.iter().enumerate() {
        let id = FunctionId(at as u32);
        let body = module.body(id).map_err(|unread| {
            let what = format!("{} (line {} of {})", unread.what, unread.line, unread.file);
            Refusal(what).in_function(&function.name, None)
        })?;
        if let Some(body) = body {
            workshop.define(&mut unit, id, function, &body)?;
        }
    }
    unit.finish()
}
