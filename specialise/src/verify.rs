//! The verifier checks whether a body is well-formed. All code that reads, rewrites or prints bodies relies on it.
//!
//! * `shape`: blocks and values exist, each value has one definition of its type, phis come first and have one input
//!   for each predecessor, no block jumps to the entry.
//! * `operands`: operations and terminators have operands of the required types.
//! * `calls`: a call of an intrinsic agrees with its declaration.
//! * `dominance`: each definition dominates its uses.
//!
//! The reader refuses bodies that are not well-formed, but does not check `calls`, which needs the other functions of
//! the module. Where `DRYSTONE_VERIFY_PASSES` is 1, as in tests, bodies are verified between passes
//! ([`crate::passes`]), including `calls`.
//!
//! As in LLVM, unreachable blocks may use undefined values, and calls of functions other than intrinsics needn't match
//! their declarations: pointers have no types, so that such a call is wrong only when it is executed.

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

/// Verifies a body as the body of a function of a module.
pub fn function(module: &Module, id: FunctionId, code: &Body) -> Result<(), Malformed> {
    let function = &module.functions[id.0 as usize];
    let verified = body(function, code).and_then(|()| calls::verify(&Subject::new(function, code), module));
    verified.map_err(|fault| Malformed { function: function.name.clone(), fault })
}

/// Verifies a body, as far as its function's signature suffices.
pub(crate) fn body(function: &Function, body: &Body) -> Result<(), Fault> {
    let subject = Subject::new(function, body);
    shape::verify(&subject)?;
    operands::verify(&subject)?;
    dominance::verify(&subject)
}
