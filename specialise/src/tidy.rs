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
mod surroundings;
pub(crate) mod unroll;
pub(crate) mod widen;

pub(crate) use calls::{Known, known_call};
pub(crate) use hash::{Mixer, Table};
pub(crate) use memory::{Addresses, Place};
pub(crate) use roots::{Root, Roots};

pub use surroundings::Surroundings;

use crate::ir::Body;

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

/// Blocks and instructions, by which the passes see whether they are done.
fn size(body: &Body) -> (usize, usize) {
    (body.blocks.len(), body.blocks.iter().map(|block| block.instructions.len()).sum())
}
