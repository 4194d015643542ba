//! Takes out of a residual function what does nothing, and writes what is left in the simplest form: addresses as one
//! sum, blocks without detours, values without gaps. What it does is correct for any function; re-rolling relies on
//! addresses being folded.
//!
//! It refuses to do what the compiler of the residual program does as well or better: of arithmetic only tests are
//! touched, where several become one.

pub(crate) mod ahead;
mod calls;
mod dead;
mod flow;
mod forward;
pub(crate) mod guards;
mod hash;
mod memory;
mod number;
mod roots;
pub(crate) mod unroll;
pub(crate) mod widen;

pub(crate) use calls::{Known, known_call};
pub(crate) use hash::{Mixer, Table};
pub(crate) use memory::{Addresses, Place};
pub(crate) use roots::{Root, Roots};

use crate::ir::{Body, FunctionId, Module, Param};

/// What is around a body: what it calls and what its parameters are.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The module that the body belongs to.
    pub module: &'a Module,
    /// The parameters of its function.
    pub params: &'a [Param],
}

/// How often the passes may make work for each other before that is enough.
const ROUNDS: usize = 4;

/// Takes out what does nothing. Time grows with the size of the function, not faster.
pub fn tidy(body: &mut Body, around: &Surroundings) {
    for _ in 0..ROUNDS {
        let before = size(body);
        flow::straighten(body);
        forward::forward(body, around);
        dead::remove(body, around);
        if size(body) == before {
            break;
        }
    }
    flow::straighten(body);
    number::number(body, around.params.len());
}

impl<'a> Surroundings<'a> {
    /// What is around the body of a function of a module.
    pub fn of(module: &'a Module, function: FunctionId) -> Surroundings<'a> {
        Surroundings { module, params: &module.functions[function.0 as usize].params }
    }
}

/// Blocks and instructions, by which the passes see whether they are done.
fn size(body: &Body) -> (usize, usize) {
    (body.blocks.len(), body.blocks.iter().map(|block| block.instructions.len()).sum())
}
