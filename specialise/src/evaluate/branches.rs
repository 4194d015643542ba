//! How a block ends: known branches are taken, unknown ones split the path.

use super::evaluator::{Evaluator, Stop};
use super::operands::Leak;
use super::state::{Arrival, Round, State};
use super::value::{ObjectId, Value};
use crate::ir::{Binary, BlockId, Body, Cast, Compare, Const, Op, Operand, Terminator, Type, ValueId};
use std::collections::BTreeMap;
use std::rc::Rc;

impl Evaluator<'_> {
    /// Ends a block; gives the path back if it goes on alone.
    pub(super) fn terminate(
        &mut self,
        mut state: State,
        terminator: &Terminator,
    ) -> Result<Option<State>, Stop> {
        match terminator {
            Terminator::Unreachable => {
                self.residual.end(state.block, Terminator::Unreachable);
                Ok(None)
            }
            Terminator::Return(value) => self.leave(state, value.as_ref()),
            Terminator::Jump(to) => {
                self.go(&mut state, *to)?;
                Ok(Some(state))
            }
            Terminator::Branch(condition, yes, no) => {
                let known = self.value(&state, condition);
                self.note_exit(&mut state, condition, known.known_int().is_some(), &[*yes, *no]);
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
        let operand = self.operand(&mut state, condition, &Type::Int(1), Leak::No)?;
        let (yes_block, no_block) = (self.residual.block(String::new()), self.residual.block(String::new()));
        self.residual.end(state.block, Terminator::Branch(operand, yes_block, no_block));
        state.branches += 1;
        for (holds, block, to) in [(true, yes_block, yes), (false, no_block, no)] {
            let mut side = state.clone();
            side.block = block;
            if let Value::Dynamic(condition) = condition {
                self.refine(&mut side, *condition, holds);
            }
            self.go(&mut side, to)?;
            self.suspend(side);
        }
        Ok(None)
    }

    /// Parts a path at the instruction where it stands, by a condition: on each side the condition is known. The sides
    /// don't wait for each other there, since they would only meet to part again.
    pub(super) fn part_here(&mut self, state: &mut State, condition: ValueId) -> Stop {
        let (yes, no) = (self.residual.block(String::new()), self.residual.block(String::new()));
        self.residual.end(state.block, Terminator::Branch(Operand::Value(condition), yes, no));
        state.branches += 1;
        for (side, (holds, block)) in [(true, yes), (false, no)].into_iter().enumerate() {
            let mut part = state.clone();
            part.block = block;
            self.refine(&mut part, condition, holds);
            let mut key = part.key();
            key.extend([u32::MAX, self.evaluated as u32, side as u32]);
            self.waiting.entry(key).or_default().push(part);
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
        self.note_exit(&mut state, operand, value.known_int().is_some(), &targets);
        if let Some(known) = value.known_int() {
            let to = cases.iter().find(|(case, _)| *case == known).map_or(default, |(_, to)| *to);
            self.go(&mut state, to)?;
            return Ok(Some(state));
        }
        let ty = state.top().body.clone().type_of(operand);
        let operand = self.operand(&mut state, &value, &ty, Leak::No)?;
        let mut by_target: BTreeMap<BlockId, Vec<u128>> = BTreeMap::new();
        let not_zero = matches!(value, Value::Dynamic(value) if state.not_zero.contains(&value));
        cases
            .iter()
            .filter(|(case, to)| *to != default && !(*case == 0 && not_zero))
            .for_each(|(case, to)| by_target.entry(*to).or_default().push(*case));
        let otherwise = self.residual.block(String::new());
        let mut residual_cases = Vec::new();
        state.branches += 1;
        let mut sides = vec![(otherwise, default, None)];
        for (to, cases) in by_target {
            let block = self.residual.block(String::new());
            residual_cases.extend(cases.iter().map(|case| (*case, block)));
            sides.push((block, to, (cases.len() == 1).then(|| cases[0])));
        }
        self.residual.end(state.block, Terminator::Switch(operand, otherwise, residual_cases));
        let zero_side = cases.iter().find(|(case, _)| *case == 0).map_or(default, |(_, to)| *to);
        for (block, to, case) in sides {
            let mut side = state.clone();
            side.block = block;
            if let (Some(case), Value::Dynamic(dynamic), Type::Int(bits)) = (case, &value, &ty) {
                substitute(&mut side, &Value::Dynamic(*dynamic), &Value::int(*bits, case));
            } else if let Value::Dynamic(dynamic) = value
                && to != zero_side
            {
                Rc::make_mut(&mut side.not_zero).edit(|values| values.insert(dynamic));
            }
            self.go(&mut side, to)?;
            self.suspend(side);
        }
        Ok(None)
    }

    /// What a condition that holds, or doesn't, says about other values.
    fn refine(&mut self, state: &mut State, condition: ValueId, holds: bool) {
        substitute(state, &Value::Dynamic(condition), &Value::bool(holds));
        let Some(definition) = self.residual.definition(condition).cloned() else { return };
        match definition {
            Op::Compare(op @ (Compare::Eq | Compare::Ne), a, Operand::Const(b)) => {
                self.refine_equality(state, &a, &b, (op == Compare::Eq) == holds);
            }
            Op::Binary(Binary::And, a, b) if holds => self.refine_both(state, &[a, b], true),
            Op::Binary(Binary::Or, a, b) if !holds => self.refine_both(state, &[a, b], false),
            Op::Binary(Binary::Xor, Operand::Value(a), Operand::Const(Const::Int { value: 1, bits: 1 })) => {
                self.refine(state, a, !holds);
            }
            _ => {}
        }
    }

    /// What it says of an operand that it is equal to a constant, or isn't.
    fn refine_equality(&mut self, state: &mut State, operand: &Operand, to: &Const, equal: bool) {
        let Operand::Value(value) = *operand else { return };
        match (self.allocated_at(state, operand), to) {
            (Some(object), Const::Null) if equal => forget_null(state, object),
            (Some(object), Const::Null) => {
                state.not_null.insert(object);
            }
            (_, Const::Null | Const::Int { .. }) if equal => {
                substitute(state, &Value::Dynamic(value), &Value::Const(to.clone()));
            }
            _ => {}
        }
        let is_zero = match to {
            Const::Null | Const::Int { value: 0, .. } => equal,
            Const::Int { .. } if equal => false,
            _ => return,
        };
        if !is_zero {
            Rc::make_mut(&mut state.not_zero).edit(|values| values.insert(value));
        }
        match self.residual.definition(value).cloned() {
            Some(Op::Cast(Cast::ZExt | Cast::SExt, Operand::Value(bit)))
                if *self.residual.type_of(bit) == Type::Int(1) =>
            {
                self.refine(state, bit, !is_zero);
            }
            _ => {}
        }
    }

    fn refine_both(&mut self, state: &mut State, conditions: &[Operand], hold: bool) {
        for condition in conditions {
            if let Operand::Value(value) = condition
                && *self.residual.type_of(*value) == Type::Int(1)
            {
                self.refine(state, *value, hold);
            }
        }
    }

    /// The object that may be null whose address an operand is.
    fn allocated_at(&self, state: &State, operand: &Operand) -> Option<ObjectId> {
        let Operand::Value(value) = operand else { return None };
        let by_state =
            state.memory.iter().find(|(_, contents)| contents.base == Some(*value)).map(|(object, _)| object);
        by_state.or_else(|| {
            let by_name = self.bases.iter().find(|(_, base)| *base == operand).map(|(object, _)| *object);
            by_name.filter(|object| self.learnt.objects.origin(*object).allocated)
        })
    }

    /// Goes to another block of the same function.
    pub(super) fn go(&mut self, state: &mut State, to: BlockId) -> Result<(), Stop> {
        let frame = state.top();
        let (body, flow, from, path) = (frame.body.clone(), frame.flow.clone(), frame.block, frame.path);
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
        let stays = self.learnt.directives.contains_key(&(path, to));
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
        self.visit(function, to);
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

    /// Notes what decided to stay in, or to leave, the loops that a branch may leave.
    fn note_exit(&mut self, state: &mut State, condition: &Operand, known: bool, targets: &[BlockId]) {
        let frame = state.top();
        if frame.loops.is_empty() {
            return;
        }
        let flow = frame.flow.clone();
        let leaves = |header| targets.iter().any(|target| !flow.is_in(*target, header));
        if !frame.loops.iter().any(|round| leaves(round.header)) {
            return;
        }
        let mut reasons = Vec::new();
        if known {
            let body = frame.body.clone();
            let definitions = flow.definitions(&body);
            known_leaves(&body, definitions, &frame.values.clone(), condition, 8, &mut reasons);
        }
        for round in frame.loops.elements().iter_mut().filter(|round| leaves(round.header)) {
            if known {
                round.reasons.extend(reasons.iter().cloned());
            } else {
                round.dynamic_exit = true;
            }
        }
    }

    /// Returns from a function.
    fn leave(&mut self, mut state: State, value: Option<&Operand>) -> Result<Option<State>, Stop> {
        let frame = state.top();
        let path = frame.path;
        let ty = value.map(|value| frame.body.type_of(value));
        let value = value.map(|value| self.value(&state, value));
        let nothing = Value::undef(&Type::Int(1));
        if state.frames.len() == 1 {
            let operand = match (&value, &ty) {
                (Some(value), Some(ty)) => Some(self.operand(&mut state, value, ty, Leak::Yes)?),
                _ => None,
            };
            self.end_recursion(&state, path, value.as_ref().unwrap_or(&nothing))?;
            self.returned(&state);
            self.residual.end(state.block, Terminator::Return(operand));
            return Ok(None);
        }
        let locals = std::mem::take(&mut state.top().locals);
        for local in locals {
            self.end_of_life(&mut state, local)?;
        }
        state.frames.edit(Vec::pop);
        let value = value.unwrap_or(nothing);
        self.end_recursion(&state, path, &value)?;
        let frame = state.top();
        let body = frame.body.clone();
        let instruction = &body.blocks[frame.block.0 as usize].instructions[frame.index];
        self.give(&mut state, instruction, value);
        Ok(Some(state))
    }
}

/// The known values that a condition was computed from.
fn known_leaves(
    body: &Body,
    definitions: &[Option<(usize, usize)>],
    values: &[Value],
    operand: &Operand,
    depth: u32,
    into: &mut Vec<Const>,
) {
    let Operand::Value(value) = operand else { return };
    let computed = definitions[value.0 as usize]
        .map(|(block, index)| &body.blocks[block].instructions[index].op)
        .filter(|op| {
            matches!(op, Op::Binary(..) | Op::Compare(..) | Op::Cast(..) | Op::Select(..) | Op::Freeze(_))
        });
    match computed {
        Some(op) if depth > 0 => {
            for operand in op.operands() {
                known_leaves(body, definitions, values, operand, depth - 1, into);
            }
        }
        _ => match &values[value.0 as usize] {
            Value::Const(constant) => into.push(constant.clone()),
            Value::Pointer(object, offset) | Value::Address(object, offset) => {
                into.push(Const::int(128, u128::from(object.0) << 64 | u128::from(*offset as u64)));
            }
            _ => {}
        },
    }
}

/// Puts a value in the place of another, wherever a path knows it.
fn substitute(state: &mut State, old: &Value, new: &Value) {
    for frame in state.frames.elements() {
        if frame.values.contains(old) {
            Rc::make_mut(&mut frame.values)
                .elements()
                .iter_mut()
                .filter(|value| *value == old)
                .for_each(|value| *value = new.clone());
        }
    }
    let held: Vec<ObjectId> =
        state.memory.iter().filter(|(_, contents)| contents.holds(old)).map(|(o, _)| o).collect();
    for object in held {
        if let Some(contents) = state.memory.get_mut(object) {
            contents.substitute(old, new);
        }
    }
}

/// An allocated object turned out to be null: pointers to it are.
fn forget_null(state: &mut State, object: ObjectId) {
    let null = Value::Const(Const::Null);
    let replace = |value: &mut Value| {
        if value.object() == Some(object) {
            *value = null.clone();
        }
    };
    for frame in state.frames.elements() {
        if frame.values.iter().any(|value| value.object() == Some(object)) {
            Rc::make_mut(&mut frame.values).elements().iter_mut().for_each(replace);
        }
    }
    let holders: Vec<ObjectId> = state.memory.iter().map(|(holder, _)| holder).collect();
    for holder in holders {
        if let Some(contents) = state.memory.get_mut(holder) {
            contents.replace_pointers(object, &null);
        }
    }
    state.memory.remove(object);
}
