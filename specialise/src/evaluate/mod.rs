//! The evaluator: it runs the entry with what is known, and what it can't compute becomes the residual program.
//!
//! It evaluates one *path* (`State`) at a time. A branch on an unknown value splits the path in two, and paths that
//! come to the same place wait for one another there: those that know the same go on as one, with phis for what
//! differs; a few versions that know different things go on apart (polyvariance). A loop whose rounds an unknown value
//! decides is found when control comes back to its header; then the attempt is given up, the loop is noted down as one
//! that stays, with the variables in which its rounds differ, and everything begins anew (`loops`). This ends, since
//! each attempt forgets more, and budgets end it sooner; what can't be had is a call of the generic code.

mod access;
mod arithmetic;
mod attempt;
mod branches;
mod calls;
mod copies;
mod effects;
mod error;
mod evaluator;
mod exits;
mod facts;
mod flow;
mod given;
mod initial;
mod initialisers;
mod instructions;
mod invariants;
mod joins;
mod kept;
mod learnt;
mod library;
mod limits;
mod loops;
mod machine;
mod memory;
mod notes;
mod objects;
mod operands;
mod operations;
mod outcome;
mod places;
mod pointers;
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
mod unseen;
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
    evaluator.machine.keep_generic(&reason);
    evaluator.finish(attempts)
}
