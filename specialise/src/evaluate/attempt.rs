//! Runs one attempt: follows paths in turn until all have ended.

use super::evaluator::Evaluator;
use super::memory::Memory;
use super::residual::PROLOGUE;
use super::state::{Arrival, State};
use super::stop::Stop;
use super::value::Value;
use crate::ir::Terminator;
use std::rc::Rc;

impl Evaluator<'_> {
    /// Makes one attempt at the residual function.
    pub(super) fn attempt(&mut self) -> Result<(), Stop> {
        let machine = &mut self.machine;
        let task = machine.task;
        let mut args = Vec::new();
        for (at, param) in task.params.iter().enumerate() {
            let value = machine.residual.value(param.ty.clone(), param.name.as_deref().unwrap_or(""));
            args.push((at as u32, value));
        }
        machine.residual.block(String::new());
        let first = machine.residual.block(String::new());
        let mut state = State::new(Memory::default(), first);
        let args: Vec<Value> = args
            .into_iter()
            .map(|(at, value)| machine.argument(&mut state.facts, at, value))
            .collect::<Result<_, _>>()?;
        if machine.program.is_replaceable(task.entry) {
            return Err(Stop::Fail("another module may define it".into()));
        }
        self.enter(&mut state, task.entry, args, &Rc::default())?;
        self.follow(state)?;
        self.machine.residual.end(PROLOGUE, Terminator::Jump(first));
        Ok(())
    }

    /// Follows a path, and all paths into which it splits, to their ends.
    pub(super) fn follow(&mut self, state: State) -> Result<(), Stop> {
        self.waiting.suspend(state);
        while let Some((key, arrivals)) = self.waiting.next() {
            for state in self.join(&key, arrivals)? {
                self.proceed(state)?;
            }
        }
        Ok(())
    }

    /// Follows a path until it ends, splits, or must wait for others.
    fn proceed(&mut self, mut state: State) -> Result<(), Stop> {
        state.arrival = Arrival::Plain;
        loop {
            let frame = state.top();
            let (body, block, index) = (frame.body.clone(), frame.block, frame.index);
            let code = &body.blocks[block.0 as usize];
            self.spend(&state)?;
            let Some(instruction) = code.instructions.get(index) else {
                self.machine.residual.place = code.place;
                match self.terminate(state, &code.terminator)? {
                    Some(next) => state = next,
                    None => return Ok(()),
                }
                if state.arrival != Arrival::Plain || self.waiting.comes_before(&state) {
                    self.waiting.suspend(state);
                    return Ok(());
                }
                continue;
            };
            self.meter.evaluated += 1;
            self.machine.residual.place = instruction.place;
            let before = self.machine.residual.size;
            match self.step(&mut state, instruction) {
                Err(Stop::Parted) => return Ok(()),
                other => other?,
            }
            self.machine.notes.instruction(instruction, before != self.machine.residual.size);
            if state.arrival != Arrival::Plain {
                self.waiting.suspend(state);
                return Ok(());
            }
        }
    }
}
