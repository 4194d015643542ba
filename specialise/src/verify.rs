//! Whether a body is well-formed, so that all that reads, rewrites and prints bodies may rely on it.
//!
//! * `shape`: blocks and values exist, each value has one definition of its type, phis stand first and have one input
//!   for each predecessor, nothing jumps to the entry.
//! * `operands`: operations and terminators get operands of the types that they are for.
//! * `calls`: a call of an intrinsic agrees with its declaration.
//! * `dominance`: on every path, a value is computed before it is used.
//!
//! The reader refuses bodies that are not well-formed; after each pass, tests and debug builds verify what it left
//! ([`crate::passes`]). In blocks that control never comes to, values may be used that nothing computes, as in LLVM.
//!
//! Calls of functions other than intrinsics are not compared with their declarations: pointers have no types, and a
//! call that takes a function for another one than it is goes wrong only when it runs.

mod calls;
mod dominance;
mod fault;
mod operands;
mod shape;
mod types;

use crate::ir::{Body, Function, FunctionId, Module};
use fault::Subject;
pub use fault::{Fault, Malformed};

/// Verifies all bodies of a module that can be read.
pub fn module(module: &Module) -> Result<(), Malformed> {
    let functions = (0..module.functions.len()).map(|at| FunctionId(at as u32));
    let mut bodies = functions.filter_map(|id| Some((id, module.body(id).ok()??)));
    bodies.try_for_each(|(id, body)| function(module, id, &body))
}

/// Verifies a body as that of a function of a module.
pub fn function(module: &Module, id: FunctionId, code: &Body) -> Result<(), Malformed> {
    let function = &module.functions[id.0 as usize];
    let verified = body(function, code).and_then(|()| calls::verify(&Subject::new(function, code), module));
    verified.map_err(|fault| Malformed { function: function.name.clone(), fault })
}

/// Verifies a body as far as that needs nothing beside it but its function's signature.
pub(crate) fn body(function: &Function, body: &Body) -> Result<(), Fault> {
    let subject = Subject::new(function, body);
    shape::verify(&subject)?;
    operands::verify(&subject)?;
    dominance::verify(&subject)
}
