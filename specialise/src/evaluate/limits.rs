//! The budget of an evaluation, and how much of it has been spent: instructions, residual code, memory and time.

use super::program::Program;
use super::residual::Residual;
use super::spent::{Spent, processor_time};
use super::stop::Stop;
use crate::account;
use crate::context::Budget;
use crate::ir::{BlockId, FunctionId};
use std::time::Duration;

/// The number of steps between two readings of the clock.
const STEPS: u64 = 256;

/// The greatest memory for a residual instruction until it is written; most of it is for its statement in C.
const RESIDUAL_BYTES: u64 = 2000;

/// Compares spending with the budget.
pub(super) struct Meter<'m> {
    pub budget: &'m Budget,
    pub spent: &'m mut Spent,
    /// Instructions evaluated in this attempt.
    pub evaluated: u64,
    /// The same, including the ends of blocks.
    pub steps: u64,
}

impl Meter<'_> {
    /// Counts a step of a path. The result names the budget that is spent, if one is.
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

    /// Fails if the time is up.
    pub fn look_at_the_clock(&self, program: &Program) -> Result<(), Stop> {
        let seconds = self.budget.seconds;
        if processor_time().saturating_sub(self.spent.start) < Duration::from_secs(seconds) {
            return Ok(());
        }
        Err(Stop::Fail(self.not_enough(&format!("the budget of {seconds} s"), program)))
    }

    /// A message: which budget is spent, where no loop can be kept instead, and at which place.
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

    /// Counts an arrival at the beginning of a loop or function.
    pub fn visit(&mut self, function: FunctionId, block: BlockId) {
        *self.spent.visits.entry((function, block)).or_default() += 1;
    }
}
