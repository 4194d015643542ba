//! One attempt at the residual function: its paths, and whose turn it is.

use super::evaluator::{Evaluator, PROLOGUE, Stop};
use super::memory::Memory;
use super::state::{Arrival, State};
use super::value::Value;
use crate::ir::{Terminator, ValueId};
use std::rc::Rc;

impl Evaluator<'_> {
    /// One attempt at the residual function.
    pub(super) fn attempt(&mut self) -> Result<(), Stop> {
        let params = self.params;
        let mut args = Vec::new();
        for (at, param) in params.iter().enumerate() {
            let value = self.residual.value(param.ty.clone(), param.name.as_deref().unwrap_or(""));
            args.push((at as u32, value));
        }
        self.residual.block(String::new());
        let first = self.residual.block(String::new());
        let mut state = State::new(Memory::default(), first);
        let args: Vec<Value> = args
            .into_iter()
            .map(|(at, value)| self.argument(&mut state, at, value))
            .collect::<Result<_, _>>()?;
        if self.is_replaceable(self.entry) {
            return Err(Stop::Fail("another module may define it".into()));
        }
        self.enter(&mut state, self.entry, args, &Rc::default())?;
        self.follow(state)?;
        self.residual.end(PROLOGUE, Terminator::Jump(first));
        Ok(())
    }

    /// Follows a path and all that it parts into to their ends.
    pub(super) fn follow(&mut self, state: State) -> Result<(), Stop> {
        self.suspend(state);
        while let Some((key, arrivals)) = self.waiting.pop_first() {
            for state in self.join(&key, arrivals)? {
                self.proceed(state)?;
            }
        }
        Ok(())
    }

    /// Follows a path until it ends, splits, or must wait for others.
    pub(super) fn proceed(&mut self, mut state: State) -> Result<(), Stop> {
        state.arrival = Arrival::Plain;
        loop {
            let frame = state.top();
            let (body, block, index) = (frame.body.clone(), frame.block, frame.index);
            let code = &body.blocks[block.0 as usize];
            self.spend(&state)?;
            let Some(instruction) = code.instructions.get(index) else {
                self.place = code.place;
                match self.terminate(state, &code.terminator)? {
                    Some(next) => state = next,
                    None => return Ok(()),
                }
                if state.arrival != Arrival::Plain || self.must_wait(&state) {
                    self.suspend(state);
                    return Ok(());
                }
                continue;
            };
            self.evaluated += 1;
            self.place = instruction.place;
            let before = self.residual.size;
            match self.step(&mut state, instruction) {
                Err(Stop::Parted) => return Ok(()),
                other => other?,
            }
            self.report.note(instruction, before != self.residual.size);
            if state.arrival != Arrival::Plain {
                self.suspend(state);
                return Ok(());
            }
        }
    }

    /// Whether another path must go on before this one.
    pub(super) fn must_wait(&self, state: &State) -> bool {
        self.waiting.first_key_value().is_some_and(|(first, _)| *first <= state.key())
    }

    pub(super) fn suspend(&mut self, state: State) {
        self.waiting.entry(state.key()).or_default().push(state);
    }

    /// Gives names of the source to values of the residual program.
    pub(super) fn name_like(&mut self, state: &State, source: ValueId, residual: ValueId) {
        if let Some(frame) = state.frames.last()
            && let Some(name) = frame.body.names.get(source.0 as usize)
        {
            self.residual.name(residual, name);
        }
    }
}
