//! Takes out of a residual function what does nothing, and writes what is left in the simplest form: addresses as one
//! sum, blocks without detours, values without gaps. What it does is correct for any function; [`crate::reroll`] relies
//! on addresses being folded.
//!
//! It refuses to do what the compiler of the residual program does as well or better: of arithmetic only tests are
//! touched, where several become one.

mod ahead;
mod calls;
mod dead;
mod flow;
mod forward;
mod guards;
mod hash;
mod memory;
mod number;
mod roots;
mod unroll;
mod widen;

pub(crate) use calls::{Known, known_call};
pub(crate) use hash::{Mixer, Table};
pub(crate) use memory::{Addresses, Place};
pub(crate) use roots::{Root, Roots};

use crate::ir::{Body, Code, FunctionId, Module, Param};
use std::rc::Rc;
use widen::{Reader, Swaps};

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

/// All that can be done for the bodies of a module: [`tidy`], tests joined or made ahead, [`crate::reroll::reroll`],
/// accesses that lie side by side joined, for a C compiler. Functions and globals that nothing uses stay; what prints
/// the module leaves them out.
pub fn polish(module: &mut Module) {
    let bulk = crate::reroll::Bulk::declare(module);
    each_body(module, |body, around| {
        tidy(body, around);
        for _ in 0..ROUNDS {
            if !guards::join(body, around) {
                break;
            }
            tidy(body, around);
        }
        if ahead::ask(body) {
            tidy(body, around);
        }
        crate::reroll::reroll(body, around, &bulk);
        // Only now, for re-rolling finds the pattern of elements while they are apart.
        widen::widen(body, around, Reader::Compiler);
        tidy(body, around);
    });
}

/// What is left to do after [`polish`] for machine code that no C compiler makes: short loops are unrolled, and more
/// accesses joined.
pub fn polish_for_machine(module: &mut Module) {
    let swaps = Swaps::declare(module);
    each_body(module, |body, around| {
        unroll::unroll(body, around.module);
        tidy(body, around);
        widen::widen(body, around, Reader::Machine(swaps));
        tidy(body, around);
    });
}

fn each_body(module: &mut Module, change: impl Fn(&mut Body, &Surroundings)) {
    for at in 0..module.functions.len() {
        let id = FunctionId(at as u32);
        let Ok(Some(body)) = module.body(id) else { continue };
        module.functions[at].code = Code::Declared; // so that the body is ours alone, and not copied
        let mut body = Rc::unwrap_or_clone(body);
        change(&mut body, &Surroundings::of(module, id));
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
