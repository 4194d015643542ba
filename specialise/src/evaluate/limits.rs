//! What an evaluation may take, and where it went: instructions, code, memory and time.

use super::evaluator::{Evaluator, Stop};
use super::spent::processor_time;
use super::state::State;
use crate::account;
use crate::ir::{BlockId, FunctionId};
use std::time::Duration;

/// How many steps there are from one look at the clock to the next.
const STEPS: u64 = 256;

/// What an instruction of the residual program takes at most, until it is written: most of it is its statement in C.
const RESIDUAL_BYTES: u64 = 2000;

impl Evaluator<'_> {
    /// A path takes a step. If it is one too many, the attempt is given up.
    pub(super) fn spend(&mut self, state: &State) -> Result<(), Stop> {
        self.steps += 1;
        if self.steps.is_multiple_of(STEPS) {
            self.look_at_the_clock()?;
        }
        let budget = self.budget();
        let spent = if self.steps >= budget.instructions {
            format!("the budget of {} instructions", budget.instructions)
        } else if self.residual.size >= budget.residual {
            format!("the budget of {} residual instructions", budget.residual)
        } else if self.bytes() >= budget.memory {
            account::budget(budget.memory)
        } else {
            return Ok(());
        };
        self.give_up_longest_loop(state, &spent)
    }

    /// Ends the evaluation when its time is up.
    pub(super) fn look_at_the_clock(&self) -> Result<(), Stop> {
        let seconds = self.budget().seconds;
        if processor_time().saturating_sub(self.learnt.spent.start) < Duration::from_secs(seconds) {
            return Ok(());
        }
        Err(Stop::Fail(self.not_enough(&format!("the budget of {seconds} s"))))
    }

    /// Something is spent: the innermost of the loops that were unrolled most stays a loop.
    fn give_up_longest_loop(&mut self, state: &State, spent: &str) -> Result<(), Stop> {
        let rounds =
            state.frames.iter().flat_map(|frame| frame.loops.iter().map(move |round| (frame, round)));
        let longest = rounds
            .filter(|(frame, round)| !self.learnt.directives.contains_key(&(frame.path, round.header)))
            .max_by_key(|(_, round)| round.number);
        match longest {
            Some((frame, round)) if round.number > 0 => {
                let place = self.describe(frame.function, round.header);
                self.learnt.spent.given_up.push(format!("the loop in {place}: {spent} was not enough"));
                self.keep_loop(frame.path, round.header)
            }
            _ => Err(Stop::Fail(self.not_enough(spent))),
        }
    }

    /// Says what was spent, where nothing can be given up for it, and where.
    pub(super) fn not_enough(&self, spent: &str) -> String {
        let visits = self.learnt.spent.visits.iter();
        match visits.max_by_key(|(place, visits)| (**visits, **place)) {
            Some(((function, block), _)) => {
                let place = self.describe(*function, *block);
                format!("{spent} was not enough; most of it went into {place}")
            }
            None => format!("{spent} was not enough"),
        }
    }

    /// Notes that control came to the beginning of a loop or of a function.
    pub(super) fn visit(&mut self, function: FunctionId, block: BlockId) {
        *self.learnt.spent.visits.entry((function, block)).or_default() += 1;
    }

    /// A place in words: the function and, if it is known, the line.
    fn describe(&self, function: FunctionId, block: BlockId) -> String {
        let name = &self.function(function).name;
        let line = self.learnt.flows.get(&function).and_then(|(body, _)| {
            let code = &body.blocks[block.0 as usize];
            let places = code.instructions.iter().map(|instruction| instruction.place).chain([code.place]);
            places.flatten().map(|place| self.module.place(place)).find(|place| place.line != 0)
        });
        line.map_or_else(|| name.to_string(), |place| format!("{name} ({}:{})", place.file, place.line))
    }

    /// The bytes that the program and this evaluation hold.
    fn bytes(&self) -> u64 {
        account::bytes() + self.residual.size as u64 * RESIDUAL_BYTES
    }
}
