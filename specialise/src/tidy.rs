//! Takes out of a residual function what does nothing, and writes what is left in the simplest form: addresses as one
//! sum, blocks without detours, values without gaps. What it does is correct for any function; [`crate::reroll`] relies
//! on addresses being folded.
//!
//! It refuses to do what the compiler of the residual program does as well or better: arithmetic is left alone.

mod calls;
mod dead;
mod flow;
mod forward;
mod memory;
mod number;
pub(crate) mod operands;
mod roots;
mod widen;

pub(crate) use calls::{Known, known_call};
pub(crate) use roots::{Root, Roots};

use crate::ir::{Body, Code, FunctionId, Module, Param};
use std::rc::Rc;

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

/// Stores of constants and copies that lie side by side become wider ones. It comes after re-rolling, which finds the
/// pattern of the elements only while they are apart.
pub fn widen(body: &mut Body, around: &Surroundings) {
    widen::widen(body, around);
    tidy(body, around);
}

/// All that can be done for the bodies of a module: [`tidy`], [`crate::reroll::reroll`], [`widen`]. Functions and globals
/// that nothing uses stay; what prints the module leaves them out.
pub fn polish(module: &mut Module) {
    let bulk = crate::reroll::Bulk::declare(module);
    for at in 0..module.functions.len() {
        let Code::Body(body) = &mut module.functions[at].code else { continue };
        let mut body = Rc::unwrap_or_clone(std::mem::take(body));
        let around = Surroundings::of(module, FunctionId(at as u32));
        tidy(&mut body, &around);
        crate::reroll::reroll(&mut body, &around, &bulk);
        widen(&mut body, &around);
        module.functions[at].code = Code::Body(Rc::new(body));
    }
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
