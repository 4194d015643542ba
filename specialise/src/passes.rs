//! The passes over a residual program, in their order: what is left for a C compiler, and what is done beyond that for
//! machine code.

use crate::ir::{Body, Code, FunctionId, Module};
use crate::reroll;
use crate::tidy::widen::{self, Reader, Swaps};
use crate::tidy::{Surroundings, ahead, guards, tidy, unroll};
use std::rc::Rc;

/// How often joining tests and tidying may make work for each other before that is enough.
const ROUNDS: usize = 4;

/// All that can be done for the bodies of a module: [`tidy`], tests joined or made ahead, [`reroll`](reroll::reroll),
/// accesses that lie side by side joined, for a C compiler. Functions and globals that nothing uses stay; what prints
/// the module leaves them out.
pub fn polish(module: &mut Module) {
    let bulk = reroll::Bulk::declare(module);
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
        reroll::reroll(body, around, &bulk);
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
