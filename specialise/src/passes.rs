//! The passes over a residual program, in their order: those for a C compiler, and those for machine code. All passes
//! run here. Where `DRYSTONE_VERIFY_PASSES` is set, each body is verified after each pass, so that the message names
//! the pass that broke it; `.cargo/config.toml` sets it for tests.
//!
//! How a pass works stands in `tidy` and `reroll`.

use crate::ir::{Body, Code, FunctionId, Module};
use crate::reroll;
use crate::tidy::widen::{self, Reader, Swaps};
use crate::tidy::{Surroundings, ahead, dead, flow, forward, guards, number, unroll};
use crate::verify;
use std::env;
use std::fmt;
use std::rc::Rc;
use std::sync::LazyLock;

/// How often passes may make work for each other before that is enough.
const ROUNDS: usize = 4;

/// Whether bodies are verified between passes.
static VERIFIED: LazyLock<bool> = LazyLock::new(|| env::var_os("DRYSTONE_VERIFY_PASSES").is_some());

/// All that can be done for the bodies of a module: tidied, tests joined or made ahead, long runs made loops, accesses
/// that lie side by side joined, for a C compiler. Functions and globals that nothing uses stay; what prints the module
/// leaves them out.
pub fn polish(module: &mut Module) {
    let bulk = reroll::Bulk::declare(module);
    each_body(module, |work| {
        work.tidy();
        for _ in 0..ROUNDS {
            if !work.pass("guards", guards::join) {
                break;
            }
            work.tidy();
        }
        if work.pass("ahead", |body, _| ahead::ask(body)) {
            work.tidy();
        }
        work.pass("reroll", |body, around| reroll::reroll(body, around, &bulk));
        // Only now, for re-rolling finds the pattern of elements while they are apart.
        work.pass("widen", |body, around| widen::widen(body, around, Reader::Compiler));
        work.tidy();
    });
}

/// What is left to do after [`polish`] for machine code that no C compiler makes: short loops are unrolled, and more
/// accesses joined.
pub fn polish_for_machine(module: &mut Module) {
    let swaps = Swaps::declare(module);
    each_body(module, |work| {
        work.pass("unroll", |body, around| unroll::unroll(body, around.module));
        work.tidy();
        work.pass("widen", |body, around| widen::widen(body, around, Reader::Machine(swaps)));
        work.tidy();
    });
}

/// A body that passes go over, one after the other.
struct Work<'a> {
    body: Body,
    function: FunctionId,
    around: Surroundings<'a>,
}

impl Work<'_> {
    /// Runs one pass, and verifies what it leaves. A pass that breaks the IR is a mistake in it, and the end.
    fn pass<T>(&mut self, name: &str, pass: impl FnOnce(&mut Body, &Surroundings) -> T) -> T {
        let result = pass(&mut self.body, &self.around);
        self.verify(format_args!("after the pass `{name}`"));
        result
    }

    fn verify(&self, when: fmt::Arguments) {
        if *VERIFIED && let Err(malformed) = verify::function(self.around.module, self.function, &self.body) {
            panic!("{when}, {malformed}");
        }
    }

    /// Takes out what does nothing. Time grows with the size of the function, not faster.
    fn tidy(&mut self) {
        for _ in 0..ROUNDS {
            let before = size(&self.body);
            self.pass("flow", |body, _| flow::straighten(body));
            self.pass("forward", forward::forward);
            self.pass("dead", dead::remove);
            if size(&self.body) == before {
                break;
            }
        }
        self.pass("flow", |body, _| flow::straighten(body));
        self.pass("number", |body, around| number::number(body, around.params.len()));
    }
}

/// Blocks and instructions, by which passes that make work for each other see whether they are done.
fn size(body: &Body) -> (usize, usize) {
    (body.blocks.len(), body.blocks.iter().map(|block| block.instructions.len()).sum())
}

fn each_body(module: &mut Module, change: impl Fn(&mut Work)) {
    for at in 0..module.functions.len() {
        let function = FunctionId(at as u32);
        let Ok(Some(body)) = module.body(function) else { continue };
        module.functions[at].code = Code::Declared; // so that the body is ours alone, and not copied
        let around = Surroundings::of(module, function);
        let mut work = Work { body: Rc::unwrap_or_clone(body), function, around };
        work.verify(format_args!("before any pass"));
        change(&mut work);
        let body = work.body;
        module.functions[at].code = Code::Body(Rc::new(body));
    }
}
