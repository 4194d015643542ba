//! Compiles [`drystone_specialise::ir`] by Cranelift to machine code in this process: runs a residual program without a
//! C compiler.
//!
//! It refuses vectors, stack allocations of unknown size, thread-local variables, and functions that read their
//! variable arguments. The error names the function and the instruction.

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
mod native;
mod places;
mod shape;
#[cfg(test)]
mod tests;
mod translation;
mod unit;
mod values;

use drystone_specialise::ir::{FunctionId, GlobalId, Module};
pub use error::NativeError;
use error::Refusal;
pub use native::Native;
use unit::Unit;

/// Makes machine code of all that a module defines, as it stands: [`drystone_specialise::passes::polish_for_machine`]
/// makes that quicker. What it only declares is asked of `symbols` first, then of this process (`dlsym`).
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
