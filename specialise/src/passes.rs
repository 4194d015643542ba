//! Runs the passes over a residual program, in order: those for a C compiler, and those for machine code. Where
//! `DRYSTONE_VERIFY_PASSES` is 1, each body is verified after each pass, so that the message names the pass that
//! broke it; `.cargo/config.toml` sets it for tests.
//!
//! `tidy` and `reroll` describe how the passes work.

use crate::ir::{Body, Code, FunctionId, Module};
use crate::reroll;
use crate::tidy::widen::{self, Reader, Swaps};
use crate::tidy::{Surroundings, ahead, dead, flow, forward, guards, number, unroll};
use crate::verify;
use std::env;
use std::fmt;
use std::rc::Rc;
use std::sync::LazyLock;

/// The greatest number of rounds in which passes make work for each other.
const ROUNDS: usize = 4;

/// Whether bodies are verified between passes.
static VERIFIED: LazyLock<bool> =
    LazyLock::new(|| env::var_os("DRYSTONE_VERIFY_PASSES").is_some_and(|value| value == "1"));

/// Runs all passes for a C compiler over the bodies of a module: tidies them, joins or hoists tests, turns long runs
/// into loops, and joins adjacent accesses. Unused functions and global variables are kept; the printers leave them
/// out.
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
        // Widening comes last, because re-rolling needs separate elements to find a pattern.
        work.pass("widen", |body, around| widen::widen(body, around, Reader::Compiler));
        work.tidy();
    });
}

/// Runs the further passes, after [`polish`], for machine code without a C compiler: unrolls short loops, and joins
/// more accesses.
pub fn polish_for_machine(module: &mut Module) {
    let swaps = Swaps::declare(module);
    each_body(module, |work| {
        work.pass("unroll", |body, around| unroll::unroll(body, around.module));
        work.tidy();
        work.pass("widen", |body, around| widen::widen(body, around, Reader::Machine(swaps)));
        work.tidy();
    });
}

/// A body, to which one pass after another is applied.
struct Work<'a> {
    body: Body,
    function: FunctionId,
    around: Surroundings<'a>,
}

impl Work<'_> {
    /// Runs a pass and verifies the result. A pass that breaks the IR has a bug, and causes a panic.
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

    /// Removes useless code. The time is proportional to the size of the function.
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

/// The numbers of blocks and instructions, by which passes that make work for each other detect that they are done.
fn size(body: &Body) -> (usize, usize) {
    (body.blocks.len(), body.blocks.iter().map(|block| block.instructions.len()).sum())
}

fn each_body(module: &mut Module, change: impl Fn(&mut Work)) {
    for at in 0..module.functions.len() {
        let function = FunctionId(at as u32);
        let Ok(Some(body)) = module.body(function) else { continue };
        module.functions[at].code = Code::Declared; // so that no one else shares the body, and it isn't copied
        let around = Surroundings::of(module, function);
        let mut work = Work { body: Rc::unwrap_or_clone(body), function, around };
        work.verify(format_args!("before any pass"));
        change(&mut work);
        let body = work.body;
        module.functions[at].code = Code::Body(Rc::new(body));
    }
}
