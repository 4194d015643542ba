//! The partial evaluator: runs the entry with the known facts. Everything that it can't compute becomes the residual
//! program.
//!
//! One *path* (`State`) is evaluated at a time. A branch on an unknown value splits it in two. Paths that meet wait for
//! one another: those with the same facts are merged, with phis for the values that differ; a few with different facts
//! go on as separate versions (polyvariance). A loop whose number of rounds depends on an unknown value is recognised
//! when control returns to its header. The attempt is given up, a *directive* records that this loop is kept and which
//! variables change in it, and the evaluation starts again (`loops`). This terminates, because each attempt knows less
//! than the one before; budgets end it sooner. If the evaluation fails, the residual program calls the generic code.
//!
//! * `Task`: the program, its entry, and the context.
//! * `Learnt`: the findings of attempts, for later attempts.
//! * `Evaluator`: one attempt; its paths, loops and calls, in `attempt`, `branches`, `calls`, `joins`, `loops`,
//!   `recursion`.
//! * `State`: a path. It has frames, and `Facts`, which are all that the machine sees of it.
//! * `Machine`: the effect of instructions on values and memory.
//! * `Residual`: the residual function under construction.

mod arithmetic;
mod attempt;
mod branches;
mod calls;
mod error;
mod evaluator;
mod exits;
mod facts;
mod flow;
mod initial;
mod initialisers;
mod instructions;
mod joins;
mod kept;
mod learnt;
mod limits;
mod loops;
mod machine;
mod memory;
mod merge;
mod notes;
mod objects;
mod outcome;
mod program;
mod recursion;
mod refine;
mod report;
mod residual;
mod sense;
mod slots;
mod spent;
mod state;
mod stop;
mod task;
mod value;
mod waiting;
mod wanted;

pub use error::Error;
pub use report::{Buffer, Copied, Outcome, Report, Specialised};

use crate::context::Context;
use crate::ir::Module;
use evaluator::Evaluator;
use learnt::Learnt;
use stop::Stop;
use task::Task;

/// Specialises a program to a context.
pub fn specialise(module: &Module, context: &Context) -> Result<Specialised, Error> {
    let task = Task::new(module, context)?;
    let mut learnt = Learnt::default();
    initialisers::run(&task, &mut learnt)?;
    let mut attempts = 0;
    let reason = loop {
        attempts += 1;
        let mut evaluator = Evaluator::new(&task, &mut learnt);
        match evaluator.attempt() {
            Ok(()) => return evaluator.finish(attempts),
            Err(Stop::Fail(reason)) => break reason,
            Err(Stop::Again | Stop::Parted) if attempts >= context.budget.attempts => {
                break evaluator.not_enough(&format!("the budget of {attempts} attempts"));
            }
            Err(Stop::Again | Stop::Parted) => {}
        }
    };
    let mut evaluator = Evaluator::new(&task, &mut learnt);
    evaluator.keep_generic(&reason);
    evaluator.finish(attempts)
}
