//! The budget of an evaluation, and what has been spent of it: instructions, residual code, memory and time.

use super::program::Program;
use super::residual::Residual;
use super::spent::{Spent, processor_time};
use super::stop::Stop;
use crate::account;
use crate::context::Budget;
use crate::ir::{BlockId, FunctionId};
use std::time::Duration;

/// How many steps there are from one look at the clock to the next.
const STEPS: u64 = 256;

/// What an instruction of the residual program takes at most, until it is written: most of it is its statement in C.
const RESIDUAL_BYTES: u64 = 2000;

/// Holds what is spent against the budget.
pub(super) struct Meter<'m> {
    pub budget: &'m Budget,
    pub spent: &'m mut Spent,
    /// Instructions that were evaluated in this attempt.
    pub evaluated: u64,
    /// The same with the ends of blocks.
    pub steps: u64,
}

impl Meter<'_> {
    /// A path takes a step; gives what of the budget is spent with it.
    pub fn step(&mut self, residual: &Residual, program: &Program) -> Result<Option<String>, Stop> {
        self.steps += 1;
        if self.steps.is_multiple_of(STEPS) {
            self.look_at_the_clock(program)?;
        }
        let budget = self.budget;
        Ok(if self.steps >= budget.instructions {
            Some(format!("the budget of {} instructions", budget.instructions))
        } else if residual.size >= budget.residual {
            Some(format!("the budget of {} residual instructions", budget.residual))
        } else if account::bytes() + residual.size as u64 * RESIDUAL_BYTES >= budget.memory {
            Some(account::budget(budget.memory))
        } else {
            None
        })
    }

    /// Ends the evaluation when its time is up.
    pub fn look_at_the_clock(&self, program: &Program) -> Result<(), Stop> {
        let seconds = self.budget.seconds;
        if processor_time().saturating_sub(self.spent.start) < Duration::from_secs(seconds) {
            return Ok(());
        }
        Err(Stop::Fail(self.not_enough(&format!("the budget of {seconds} s"), program)))
    }

    /// Says what was spent, where nothing can be given up for it, and where.
    pub fn not_enough(&self, spent: &str, program: &Program) -> String {
        let visits = self.spent.visits.iter();
        match visits.max_by_key(|(place, visits)| (**visits, **place)) {
            Some(((function, block), _)) => {
                let place = program.describe(*function, *block);
                format!("{spent} was not enough; most of it went into {place}")
            }
            None => format!("{spent} was not enough"),
        }
    }

    /// Notes that control came to the beginning of a loop or of a function.
    pub fn visit(&mut self, function: FunctionId, block: BlockId) {
        *self.spent.visits.entry((function, block)).or_default() += 1;
    }
}
