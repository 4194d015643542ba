//! One attempt at the residual function, or at running an initialiser: the paths of the program, their loops and calls,
//! and the order of evaluation. `Machine` evaluates the effect of instructions on values and memory.

use super::kept::{Loops, Recursion, Variant};
use super::learnt::Learnt;
use super::limits::Meter;
use super::machine::Machine;
use super::memory::Memory;
use super::objects::CallString;
use super::program::Program;
use super::state::State;
use super::stop::Stop;
use super::task::Task;
use super::value::Value;
use super::waiting::Waiting;
use super::wanted::Wanted;
use crate::ir::{Operand, ValueId};
use std::collections::HashMap;

/// One attempt.
pub(super) struct Evaluator<'m> {
    pub machine: Machine<'m>,
    pub meter: Meter<'m>,
    pub loops: &'m mut Loops,
    pub wanted: &'m mut Wanted,
    pub waiting: Waiting,
    /// The versions of each kept loop, by its place.
    pub variants: HashMap<Vec<u32>, Vec<Variant>>,
    pub recursions: HashMap<CallString, Recursion>,
    /// Whether the code after a call is only evaluated as a trial.
    pub trying: bool,
    /// The memory after an initialiser.
    pub finished: Option<Memory>,
}

impl<'m> Evaluator<'m> {
    pub fn new(task: &'m Task<'m>, learnt: &'m mut Learnt) -> Evaluator<'m> {
        let budget = &task.context.budget;
        let program = Program { module: task.module, found: &mut learnt.program, memory: budget.memory };
        let machine = Machine::new(task, program, &mut learnt.objects, &mut learnt.initial);
        Evaluator {
            machine,
            meter: Meter { budget, spent: &mut learnt.spent, evaluated: 0, steps: 0 },
            loops: &mut learnt.loops,
            wanted: &mut learnt.wanted,
            waiting: Waiting::default(),
            variants: HashMap::new(),
            recursions: HashMap::new(),
            trying: false,
            finished: None,
        }
    }

    /// The value of an operand of a path's current instruction.
    pub fn value(&mut self, state: &State, operand: &Operand) -> Value {
        match operand {
            Operand::Value(value) => state.frames[state.frames.len() - 1].values[value.0 as usize].clone(),
            Operand::Const(constant) => self.machine.constant(constant),
        }
    }

    /// Gives a residual value the name that the value has in the source.
    pub fn name_like(&mut self, state: &State, source: ValueId, residual: ValueId) {
        if let Some(frame) = state.frames.last()
            && let Some(name) = frame.body.names.get(source.0 as usize)
        {
            self.machine.residual.name(residual, name);
        }
    }

    /// Counts a step of a path. If a budget is spent, the loop with the most unrolled rounds, the innermost of these,
    /// is kept as a loop, and the attempt ends.
    pub fn spend(&mut self, state: &State) -> Result<(), Stop> {
        let Some(spent) = self.meter.step(&self.machine.residual, &self.machine.program)? else {
            return Ok(());
        };
        let rounds =
            state.frames.iter().flat_map(|frame| frame.loops.iter().map(move |round| (frame, round)));
        let longest = rounds
            .filter(|(frame, round)| !self.loops.stays(frame.chain, round.header))
            .max_by_key(|(_, round)| round.number);
        match longest {
            Some((frame, round)) if round.number > 0 => {
                let place = self.machine.program.describe(frame.function, round.header);
                self.meter.spent.given_up.push(format!("the loop in {place}: {spent} was not enough"));
                self.loops.keep(frame.chain, round.header)
            }
            _ => Err(Stop::Fail(self.not_enough(&spent))),
        }
    }

    /// A message: which budget is spent, where no loop can be kept instead, and at which place.
    pub fn not_enough(&self, spent: &str) -> String {
        self.meter.not_enough(spent, &self.machine.program)
    }
}
