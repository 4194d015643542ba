//! The ends of blocks: known branches are taken, unknown ones split the path.

use super::evaluator::Evaluator;
use super::machine::operands::Leak;
use super::state::{Arrival, Round, State};
use super::stop::Stop;
use super::value::Value;
use crate::ir::{BlockId, Op, Operand, Terminator, Type, ValueId};
use std::collections::BTreeMap;
use std::rc::Rc;

impl Evaluator<'_> {
    /// Ends a block. The result is the path, if it goes on without a split.
    pub(super) fn terminate(
        &mut self,
        mut state: State,
        terminator: &Terminator,
    ) -> Result<Option<State>, Stop> {
        match terminator {
            Terminator::Unreachable => {
                self.machine.residual.end(state.facts.block, Terminator::Unreachable);
                Ok(None)
            }
            Terminator::Return(value) => self.leave(state, value.as_ref()),
            Terminator::Jump(to) => {
                self.go(&mut state, *to)?;
                Ok(Some(state))
            }
            Terminator::Branch(condition, yes, no) => {
                let known = self.value(&state, condition);
                state.note_exit(condition, known.known_int().is_some(), &[*yes, *no]);
                if let Some(known) = known.known_int() {
                    self.go(&mut state, if known != 0 { *yes } else { *no })?;
                    return Ok(Some(state));
                }
                if yes == no {
                    self.go(&mut state, *yes)?;
                    return Ok(Some(state));
                }
                self.branch(state, &known, *yes, *no)
            }
            Terminator::Switch(value, default, cases) => self.switch(state, value, *default, cases),
        }
    }

    fn branch(
        &mut self,
        mut state: State,
        condition: &Value,
        yes: BlockId,
        no: BlockId,
    ) -> Result<Option<State>, Stop> {
        let operand = self.machine.operand(&mut state.facts, condition, &Type::Int(1), Leak::No)?;
        let (yes_block, no_block) =
            (self.machine.residual.block(String::new()), self.machine.residual.block(String::new()));
        self.machine.residual.end(state.facts.block, Terminator::Branch(operand, yes_block, no_block));
        state.branches += 1;
        for (holds, block, to) in [(true, yes_block, yes), (false, no_block, no)] {
            let mut side = state.clone();
            side.facts.block = block;
            if let Value::Dynamic(condition) = condition {
                side.refine(*condition, holds, &self.machine);
            }
            self.go(&mut side, to)?;
            self.waiting.suspend(side);
        }
        Ok(None)
    }

    /// Splits a path at the current instruction by a condition, which is known on each side. The sides don't wait for
    /// each other here, since they would only be merged and split again.
    pub(super) fn part_here(&mut self, state: &mut State, condition: ValueId) -> Stop {
        let (yes, no) =
            (self.machine.residual.block(String::new()), self.machine.residual.block(String::new()));
        self.machine.residual.end(state.facts.block, Terminator::Branch(Operand::Value(condition), yes, no));
        state.branches += 1;
        for (side, (holds, block)) in [(true, yes), (false, no)].into_iter().enumerate() {
            let mut part = state.clone();
            part.facts.block = block;
            part.refine(condition, holds, &self.machine);
            let mut key = part.key();
            key.extend([u32::MAX, self.meter.evaluated as u32, side as u32]);
            self.waiting.suspend_at(key, part);
        }
        Stop::Parted
    }

    fn switch(
        &mut self,
        mut state: State,
        operand: &Operand,
        default: BlockId,
        cases: &[(u128, BlockId)],
    ) -> Result<Option<State>, Stop> {
        let value = self.value(&state, operand);
        let targets: Vec<BlockId> = std::iter::once(default).chain(cases.iter().map(|(_, to)| *to)).collect();
        state.note_exit(operand, value.known_int().is_some(), &targets);
        if let Some(known) = value.known_int() {
            let to = cases.iter().find(|(case, _)| *case == known).map_or(default, |(_, to)| *to);
            self.go(&mut state, to)?;
            return Ok(Some(state));
        }
        let ty = state.top().body.clone().type_of(operand);
        let operand = self.machine.operand(&mut state.facts, &value, &ty, Leak::No)?;
        let mut by_target: BTreeMap<BlockId, Vec<u128>> = BTreeMap::new();
        let not_zero = matches!(value, Value::Dynamic(value) if state.facts.not_zero.contains(&value));
        cases
            .iter()
            .filter(|(case, to)| *to != default && !(*case == 0 && not_zero))
            .for_each(|(case, to)| by_target.entry(*to).or_default().push(*case));
        let otherwise = self.machine.residual.block(String::new());
        let mut residual_cases = Vec::new();
        state.branches += 1;
        let mut sides = vec![(otherwise, default, None)];
        for (to, cases) in by_target {
            let block = self.machine.residual.block(String::new());
            residual_cases.extend(cases.iter().map(|case| (*case, block)));
            sides.push((block, to, (cases.len() == 1).then(|| cases[0])));
        }
        self.machine.residual.end(state.facts.block, Terminator::Switch(operand, otherwise, residual_cases));
        let zero_side = cases.iter().find(|(case, _)| *case == 0).map_or(default, |(_, to)| *to);
        for (block, to, case) in sides {
            let mut side = state.clone();
            side.facts.block = block;
            if let (Some(case), Value::Dynamic(dynamic), Type::Int(bits)) = (case, &value, &ty) {
                side.substitute(&Value::Dynamic(*dynamic), &Value::int(*bits, case));
            } else if let Value::Dynamic(dynamic) = value
                && to != zero_side
            {
                Rc::make_mut(&mut side.facts.not_zero).edit(|values| values.insert(dynamic));
            }
            self.go(&mut side, to)?;
            self.waiting.suspend(side);
        }
        Ok(None)
    }

    /// Goes to another block of the same function.
    pub(super) fn go(&mut self, state: &mut State, to: BlockId) -> Result<(), Stop> {
        let frame = state.top();
        let (body, flow, from, chain) = (frame.body.clone(), frame.flow.clone(), frame.block, frame.chain);
        let mut values = Vec::new();
        for instruction in &body.blocks[to.0 as usize].instructions {
            let Op::Phi(inputs) = &instruction.op else { break };
            let input = inputs.iter().find(|(_, block)| *block == from).map(|(input, _)| input);
            let value = match input {
                Some(input) => self.value(state, input),
                None => Value::undef(&instruction.ty),
            };
            values.push((instruction.result, value));
        }
        let phis = values.len();
        for (result, value) in values {
            if let Some(result) = result {
                if let Value::Dynamic(residual) = value {
                    self.name_like(state, result, residual);
                }
                state.top().set(result, value);
            }
        }
        let branches = state.branches;
        let stays = self.loops.stays(chain, to);
        let frame = state.top();
        frame.block = to;
        frame.index = phis;
        while frame.loops.last().is_some_and(|round| !flow.is_in(to, round.header)) {
            frame.loops.edit(Vec::pop);
        }
        if flow.nest[to.0 as usize].last() != Some(&to) {
            return Ok(());
        }
        let function = frame.function;
        self.meter.visit(function, to);
        let frame = state.top();
        if frame.loops.last().is_none_or(|round| round.header != to) {
            frame.loops.edit(|loops| loops.push(Round::first(to, branches)));
            if stays {
                state.arrival = Arrival::Header;
            }
            return Ok(());
        }
        if stays {
            state.arrival = Arrival::Back;
            return Ok(());
        }
        self.next_round(state)
    }

    /// Returns from a function.
    fn leave(&mut self, mut state: State, value: Option<&Operand>) -> Result<Option<State>, Stop> {
        let frame = state.top();
        let chain = frame.chain;
        let ty = value.map(|value| frame.body.type_of(value));
        let value = value.map(|value| self.value(&state, value));
        let nothing = Value::undef(&Type::Int(1));
        if state.frames.len() == 1 {
            let operand = match (&value, &ty) {
                (Some(value), Some(ty)) => {
                    Some(self.machine.operand(&mut state.facts, value, ty, Leak::Yes)?)
                }
                _ => None,
            };
            self.end_recursion(&state, chain, value.as_ref().unwrap_or(&nothing))?;
            self.returned(&state);
            self.machine.residual.end(state.facts.block, Terminator::Return(operand));
            return Ok(None);
        }
        let locals = std::mem::take(&mut state.top().locals);
        for local in locals {
            self.machine.end_of_life(&mut state.facts, local)?;
        }
        state.frames.edit(Vec::pop);
        let value = value.unwrap_or(nothing);
        self.end_recursion(&state, chain, &value)?;
        let frame = state.top();
        let body = frame.body.clone();
        let instruction = &body.blocks[frame.block.0 as usize].instructions[frame.index];
        self.give(&mut state, instruction, value);
        Ok(Some(state))
    }
}
