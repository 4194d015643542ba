//! Loops. A loop is unrolled as long as known values decide whether it goes on; otherwise it is kept. A kept loop has a
//! residual header, with a phi for each variable that changes between rounds.

use super::evaluator::Evaluator;
use super::facts::LONGEST_CELL;
use super::kept::{Directive, Variant};
use super::machine::Machine;
use super::memory::Held;
use super::slots::Slot;
use super::state::State;
use super::stop::Stop;
use super::value::{ObjectId, Value};
use super::wanted::Wanted;
use crate::ir::{Terminator, Type, ValueId};
use std::rc::Rc;

impl Evaluator<'_> {
    /// Begins another round of a loop that is being unrolled, or records that the loop must be kept.
    pub fn next_round(&mut self, state: &mut State) -> Result<(), Stop> {
        let limit = self.meter.budget.rounds;
        let branches = state.branches;
        let frame = state.top();
        let chain = frame.chain;
        let phis = &frame.body.blocks[frame.block.0 as usize].instructions[..frame.index];
        let values = phis.iter().filter_map(|phi| Some(frame.values[phi.result?.0 as usize].clone()));
        let variables: Vec<Value> = values.filter(Value::is_static).collect();
        let Some(round) = frame.loops.elements().last_mut() else { return Ok(()) };
        if round.branches != branches {
            let moved = round.former_reasons.as_ref() != Some(&round.reasons) || round.variables != variables;
            let progress = !round.reasons.is_empty() && moved;
            if !progress || (round.dynamic_exit && round.number >= limit) {
                let header = round.header;
                return self.loops.keep(chain, header);
            }
        }
        round.number += 1;
        round.branches = branches;
        round.dynamic_exit = false;
        round.variables = variables;
        round.former_reasons = Some(std::mem::take(&mut round.reasons));
        Ok(())
    }

    /// Begins a kept loop: the values in which its rounds differ become unknown.
    pub fn begin_loop(&mut self, key: &[u32], mut state: State) -> Result<State, Stop> {
        let frame = state.top();
        let place = (frame.chain, frame.block);
        let directive = self.loops.directives.get(&place).cloned().unwrap_or_default();
        for object in &directive.real {
            self.machine.materialise(&mut state.facts, *object)?;
        }
        for object in &directive.escaped {
            self.machine.escape(&mut state.facts, *object)?;
        }
        let slots: Vec<Slot> = directive.slots.iter().copied().filter(|slot| slot.exists(&state)).collect();
        // Pointers come first: they may make objects real, and cells of these may be among the slots.
        for slot in &slots {
            let ty = slot.type_in(&state, &self.machine);
            let value = slot.get(&mut state, &ty, &mut self.machine)?;
            let Some(object) = self.machine.pointee(&value).or(value.object()) else { continue };
            if directive.anywhere.contains(slot) || ty != Type::Ptr {
                self.machine.escape(&mut state.facts, object)?;
            } else {
                self.machine.materialise(&mut state.facts, object)?;
            }
        }
        let slots: Vec<Slot> = slots.into_iter().filter(|slot| slot.exists(&state)).collect();
        for (object, at, size) in &directive.forgotten {
            if let Some(contents) = state.facts.memory.get_mut(*object)
                && contents.real
            {
                contents.forget(*at, *size);
            }
        }
        state.facts.seen = Rc::default();
        state.facts.not_null.retain(|object| !directive.may_be_null.contains(object));
        let block = self.machine.residual.header();
        let mut typed = Vec::new();
        let mut inputs = Vec::new();
        for slot in slots {
            let ty = slot.type_in(&state, &self.machine);
            let value = slot.get(&mut state, &ty, &mut self.machine)?;
            let object =
                if ty == Type::Ptr && !directive.anywhere.contains(&slot) && !matches!(slot, Slot::Base(_)) {
                    self.machine.pointee(&value)
                } else {
                    None
                };
            inputs.push(slot.operand(&mut state, &ty, object, &mut self.machine)?);
            typed.push((slot, ty, object));
        }
        let from = state.facts.block;
        self.machine.residual.end(from, Terminator::Jump(block));
        state.facts.block = block;
        for (at, ((slot, ty, object), input)) in typed.iter().zip(inputs).enumerate() {
            let phi = self.machine.residual.phi(block, ty.clone());
            self.machine.residual.phi_input(block, at, input, from);
            self.name_slot(&state, *slot, phi);
            if let Some(object) = object {
                self.machine.points_into(phi, *object);
            }
            slot.set(&mut state, phi);
        }
        // A kept loop counts as an unknown branch for a loop around it.
        state.branches += 1;
        let branches = state.branches;
        if let Some(round) = state.top().loops.elements().last_mut() {
            round.branches = branches;
        }
        let variant = Variant { block, state: state.clone(), slots: typed };
        self.variants.entry(key.to_vec()).or_default().push(variant);
        Ok(state)
    }

    /// Ends a round of a kept loop: the path goes back to the header of a version that fits it.
    pub fn close_loop(&mut self, key: &[u32], mut state: State) -> Result<(), Stop> {
        let Some(variants) = self.variants.remove(key) else {
            return Err(Stop::Fail("a loop without a beginning".into()));
        };
        let mut best: Option<Directive> = None;
        let mut fitting = None;
        for (at, variant) in variants.iter().enumerate() {
            let missing = fit(variant, &mut state, &mut self.machine, self.wanted)?;
            if missing == Directive::default() {
                fitting = Some(at);
                break;
            }
            if best.as_ref().is_none_or(|best| missing.weight() < best.weight()) {
                best = Some(missing);
            }
        }
        let result = match (fitting, best) {
            (Some(at), _) => self.go_back(&variants[at], state),
            (None, Some(missing)) => {
                let frame = state.top();
                self.loops.forget(frame.chain, frame.block, missing)
            }
            (None, None) => Err(Stop::Fail("a loop without versions".into())),
        };
        self.variants.insert(key.to_vec(), variants);
        result
    }

    fn go_back(&mut self, variant: &Variant, mut state: State) -> Result<(), Stop> {
        let mut inputs = Vec::new();
        for (slot, ty, object) in &variant.slots {
            let input = slot.operand(&mut state, ty, *object, &mut self.machine)?;
            inputs.push(input);
        }
        // An object that has escaped through an input must have escaped at the header too.
        let mut missing = Directive::default();
        fit_modes(&variant.state, &mut state, &mut self.machine, &mut missing)?;
        if missing != Directive::default() {
            let frame = state.top();
            return self.loops.forget(frame.chain, frame.block, missing);
        }
        for (at, input) in inputs.into_iter().enumerate() {
            self.machine.residual.phi_input(variant.block, at, input, state.facts.block);
        }
        self.machine.residual.end(state.facts.block, Terminator::Jump(variant.block));
        Ok(())
    }

    fn name_slot(&mut self, state: &State, slot: Slot, phi: ValueId) {
        match slot {
            Slot::Local(depth, value) => {
                let name = state.frames[depth as usize].body.names.get(value.0 as usize).cloned();
                self.machine.residual.name(phi, name.as_deref().unwrap_or(""));
            }
            Slot::Cell(object, at, _) => {
                let name = format!("{}_{at}", self.machine.objects.origin(object).name);
                self.machine.residual.name(phi, &name);
            }
            Slot::Base(_) => {}
        }
    }
}

/// Finds what else must be unknown at the header for a path to fit it. Brings the path's memory to the header's form.
fn fit(
    variant: &Variant,
    state: &mut State,
    machine: &mut Machine,
    wanted: &mut Wanted,
) -> Result<Directive, Stop> {
    let mut missing = Directive::default();
    let header = &variant.state;
    let same = header.frames.len() == state.frames.len()
        && header
            .frames
            .iter()
            .zip(state.frames.iter())
            .all(|(a, b)| (a.chain, a.block) == (b.chain, b.block));
    if !same {
        return Err(Stop::Fail("a loop that ends in another place than it began".into()));
    }
    fit_modes(header, state, machine, &mut missing)?;
    if missing != Directive::default() {
        return Ok(missing);
    }
    for (slot, ty, object) in &variant.slots {
        let Some(object) = object else { continue };
        let value = slot.get(state, ty, machine)?;
        if machine.one_object(&[value.clone(), Value::Pointer(*object, 0)]) != Some(*object) {
            missing.anywhere.insert(*slot);
        }
    }
    let is_slot = |slot: &Slot| variant.slots.iter().any(|(other, ..)| other == slot);
    for depth in 0..header.frames.len() {
        for value in wanted.of(header, depth).iter() {
            let slot = Slot::Local(depth as u32, *value);
            let of = |state: &State| state.frames[depth].values[value.0 as usize].clone();
            if !is_slot(&slot) && of(header) != of(state) {
                missing.slots.insert(slot);
            }
        }
    }
    missing.may_be_null.extend(header.facts.not_null.difference(&state.facts.not_null));
    let objects: Vec<ObjectId> = header.facts.memory.iter().map(|(object, _)| object).collect();
    for object in objects {
        let (Some(there), Some(here)) = (header.facts.memory.get(object), state.facts.memory.get(object))
        else {
            continue;
        };
        if there.base != here.base && !is_slot(&Slot::Base(object)) {
            missing.slots.insert(Slot::Base(object));
        }
        if there.real {
            for (at, cell) in there.cells.iter() {
                if here.cells.get(at) != Some(cell)
                    && here.pieces(*at, cell.size) != there.pieces(*at, cell.size)
                {
                    missing.forgotten.insert((object, *at, cell.size));
                }
            }
            continue;
        }
        let differing: Vec<(u64, u64)> = header.facts.differing_cells(&state.facts, object);
        for (at, size) in differing {
            let covered = variant.slots.iter().any(|(slot, ..)| match slot {
                Slot::Cell(other, from, bytes) => {
                    *other == object && *from <= at && at + size <= from + bytes
                }
                _ => false,
            });
            if covered {
                continue;
            }
            if size > LONGEST_CELL
                || there.cells.get(&at).is_some_and(|cell| matches!(cell.held, Held::Copy(..)))
            {
                missing.real.insert(object);
            } else {
                missing.slots.insert(Slot::Cell(object, at, size));
            }
        }
    }
    Ok(missing)
}

/// Makes objects of the path real, or lets them escape, as at the header. Objects for which only the header could
/// change are added to `missing`.
fn fit_modes(
    header: &State,
    state: &mut State,
    machine: &mut Machine,
    missing: &mut Directive,
) -> Result<(), Stop> {
    let objects: Vec<ObjectId> = header.facts.memory.iter().map(|(object, _)| object).collect();
    for object in &objects {
        machine.ensure(&mut state.facts, *object);
        let Some(there) = header.facts.memory.get(*object) else { continue };
        if there.real {
            machine.materialise(&mut state.facts, *object)?;
        }
        if there.escaped {
            machine.escape(&mut state.facts, *object)?;
        }
    }
    for object in objects {
        let (Some(there), Some(here)) = (header.facts.memory.get(object), state.facts.memory.get(object))
        else {
            continue;
        };
        if here.real && !there.real {
            missing.real.insert(object);
        }
        if here.escaped && !there.escaped {
            missing.escaped.insert(object);
        }
    }
    Ok(())
}
