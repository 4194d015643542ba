//! Merges paths at the same place: brings their memories to the same form, makes phis for the slots in which they
//! differ, and forgets the other differences.

use super::facts::LONGEST_CELL;
use super::machine::Machine;
use super::memory::Contents;
use super::slots::Slot;
use super::state::State;
use super::stop::Stop;
use super::value::ObjectId;
use super::wanted::Wanted;
use crate::ir::{Operand, Terminator, Type};
use std::collections::BTreeSet;

/// Merges paths at the same place.
pub(super) fn merge(
    mut states: Vec<State>,
    machine: &mut Machine,
    wanted: &mut Wanted,
) -> Result<State, Stop> {
    if states.len() == 1 {
        return Ok(states.remove(0));
    }
    let slots = even_out(&mut states, machine, wanted)?;
    let block = machine.residual.block(String::new());
    let mut inputs: Vec<Vec<Operand>> = vec![Vec::new(); states.len()];
    let mut phis = Vec::new();
    for slot in &slots {
        let ty = common_type(&states, *slot, machine);
        let object = common_object(&mut states, *slot, &ty, machine)?;
        for (state, inputs) in states.iter_mut().zip(&mut inputs) {
            inputs.push(slot.operand(state, &ty, object, machine)?);
        }
        phis.push((*slot, ty, object));
    }
    let froms: Vec<_> = states.iter().map(|state| state.facts.block).collect();
    let mut merged = states.swap_remove(0);
    for other in &states {
        merged.forget_differences(other);
    }
    for from in &froms {
        machine.residual.end(*from, Terminator::Jump(block));
    }
    merged.facts.block = block;
    for (at, (slot, ty, object)) in phis.into_iter().enumerate() {
        let phi = machine.residual.phi(block, ty);
        for (inputs, from) in inputs.iter().zip(&froms) {
            machine.residual.phi_input(block, at, inputs[at].clone(), *from);
        }
        if let Some(object) = object {
            machine.points_into(phi, object);
        }
        if let Slot::Local(depth, value) = slot {
            let name = merged.frames[depth as usize].body.names.get(value.0 as usize).cloned();
            machine.residual.name(phi, name.as_deref().unwrap_or(""));
        }
        slot.set(&mut merged, phi);
    }
    Ok(merged)
}

/// Brings the memories of paths to the same form, and finds the slots in which they differ.
fn even_out(states: &mut [State], machine: &mut Machine, wanted: &mut Wanted) -> Result<Vec<Slot>, Stop> {
    loop {
        even_out_modes(states, machine)?;
        let slots = differing(states, machine, wanted)?;
        let before: Vec<_> = states.iter().map(modes).collect();
        for slot in &slots {
            let ty = common_type(states, *slot, machine);
            let object = common_object(states, *slot, &ty, machine)?;
            for state in states.iter_mut() {
                let value = slot.get(state, &ty, machine)?;
                if let Some(pointee) = machine.pointee(&value).or(value.object()) {
                    match object {
                        Some(object) => machine.materialise(&mut state.facts, object)?,
                        None => machine.escape(&mut state.facts, pointee)?,
                    }
                }
            }
        }
        if before == states.iter().map(modes).collect::<Vec<_>>() {
            return Ok(slots);
        }
    }
}

/// An object that is real, or has escaped, on one path becomes so on all.
fn even_out_modes(states: &mut [State], machine: &mut Machine) -> Result<(), Stop> {
    loop {
        let before: Vec<_> = states.iter().map(modes).collect();
        let objects: BTreeSet<ObjectId> =
            states.iter().flat_map(|s| s.facts.memory.iter().map(|(o, _)| o)).collect();
        for object in objects {
            states.iter_mut().for_each(|state| machine.ensure(&mut state.facts, object));
            let is = |what: fn(&Contents) -> bool, states: &[State]| {
                states.iter().any(|state| state.facts.memory.get(object).is_some_and(what))
            };
            let (real, escaped) = (is(|c| c.real, states), is(|c| c.escaped, states));
            for state in states.iter_mut().filter(|_| real) {
                machine.materialise(&mut state.facts, object)?;
                if escaped {
                    machine.escape(&mut state.facts, object)?;
                }
            }
        }
        if before == states.iter().map(modes).collect::<Vec<_>>() {
            return Ok(());
        }
    }
}

/// The slots in which paths differ. An object with too large a difference becomes real on all paths.
fn differing(states: &mut [State], machine: &mut Machine, wanted: &mut Wanted) -> Result<Vec<Slot>, Stop> {
    let mut slots = BTreeSet::new();
    for depth in 0..states[0].frames.len() {
        for value in wanted.of(&states[0], depth).iter() {
            let of = |state: &State| state.frames[depth].values[value.0 as usize].clone();
            let first = of(&states[0]);
            if states[1..].iter().any(|state| of(state) != first) {
                slots.insert(Slot::Local(depth as u32, *value));
            }
        }
    }
    let objects: Vec<ObjectId> = states[0].facts.memory.iter().map(|(object, _)| object).collect();
    for object in objects {
        if states.iter().any(|state| state.facts.memory.get(object).is_none()) {
            continue;
        }
        let base = |state: &State| state.facts.memory.get(object).and_then(|contents| contents.base);
        let first = base(&states[0]);
        if states[1..].iter().any(|state| base(state) != first) {
            slots.insert(Slot::Base(object));
        }
        if states[0].facts.memory.get(object).is_some_and(|contents| contents.real) {
            continue;
        }
        let mut cells = BTreeSet::new();
        for other in &states[1..] {
            cells.extend(states[0].facts.differing_cells(&other.facts, object));
        }
        let overlapping = cells.iter().zip(cells.iter().skip(1)).any(|(a, b)| a.0 + a.1 > b.0);
        if overlapping || cells.iter().any(|(_, size)| *size > LONGEST_CELL) {
            for state in states.iter_mut() {
                machine.materialise(&mut state.facts, object)?;
            }
            continue;
        }
        slots.extend(cells.into_iter().map(|(at, size)| Slot::Cell(object, at, size)));
    }
    Ok(slots.into_iter().collect())
}

/// The type of a slot that fits all the paths.
fn common_type(states: &[State], slot: Slot, machine: &Machine) -> Type {
    let mut types = states.iter().map(|state| slot.type_in(state, machine)).collect::<Vec<_>>();
    types.dedup();
    match (types.len(), slot) {
        (1, _) => types.remove(0),
        (_, Slot::Cell(_, _, size)) => Type::Int(size as u32 * 8),
        _ => types.remove(0),
    }
}

/// The object into which the pointer in a slot points, if it is the same on all the paths.
fn common_object(
    states: &mut [State],
    slot: Slot,
    ty: &Type,
    machine: &mut Machine,
) -> Result<Option<ObjectId>, Stop> {
    if *ty != Type::Ptr || matches!(slot, Slot::Base(_)) {
        return Ok(None);
    }
    let mut values = Vec::new();
    for state in states.iter_mut() {
        values.push(slot.get(state, ty, machine)?);
    }
    Ok(machine.one_object(&values))
}

/// For each object of a path, whether it is real and whether it has escaped.
fn modes(state: &State) -> Vec<(ObjectId, bool, bool)> {
    state.facts.memory.iter().map(|(object, contents)| (object, contents.real, contents.escaped)).collect()
}
