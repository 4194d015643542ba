//! The partial evaluator: runs the entry with what is known. What it can't compute becomes the residual program.
//!
//! One *path* (`State`) is evaluated at a time. A branch on an unknown value splits it in two. Paths that meet wait for
//! one another: those that know the same are merged, with phis for what differs; a few that know different things go on
//! as separate versions (polyvariance). A loop that an unknown value decides is found when control comes back to its
//! header: the attempt is given up, a *directive* records that this loop stays and which variables change in it, and
//! the evaluation starts again (`loops`). This terminates, because each attempt knows less than the one before; budgets
//! end it sooner. Where it fails, the residual program calls the generic code.
//!
//! * `Task`: the program, its entry, and the context.
//! * `Learnt`: what attempts find out for those after them.
//! * `Evaluator`: one attempt; its paths, loops and calls, in `attempt`, `branches`, `calls`, `joins`, `loops`,
//!   `recursion`.
//! * `State`: a path; its frames, and its `Facts`, which are all that the machine sees of it.
//! * `Machine`: what instructions do to values and memory.
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
