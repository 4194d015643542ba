//! Where paths meet: which of them are merged, and how.

use super::evaluator::Evaluator;
use super::facts::{Facts, LONGEST_CELL};
use super::machine::Machine;
use super::memory::{Contents, Held};
use super::slots::Slot;
use super::state::{Arrival, State};
use super::stop::Stop;
use super::value::ObjectId;
use super::wanted::Wanted;
use crate::ir::{Operand, Terminator, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How many facts two paths would lose by being merged. The first number counts more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Distance {
    /// Values that both know, and that differ.
    values: usize,
    /// Values that one of them knows, and memory.
    other: usize,
}

/// The product of versions and instructions of the residual program from which on there are fewer versions, down to the
/// fewest.
const GENEROUS: usize = 3000;
const FEWEST: usize = 2;

impl Evaluator<'_> {
    /// The paths that go on from a place when all that lead there have arrived.
    pub fn join(&mut self, key: &[u32], arrivals: Vec<State>) -> Result<Vec<State>, Stop> {
        let mut on = Vec::new();
        for group in same_place(arrivals) {
            let (back, rest): (Vec<_>, Vec<_>) =
                group.into_iter().partition(|state| state.arrival == Arrival::Back);
            let header = rest.iter().any(|state| state.arrival == Arrival::Header);
            for class in self.classes(rest)? {
                let state = merge(class, &mut self.machine, self.wanted)?;
                on.push(if header { self.begin_loop(key, state)? } else { state });
            }
            for state in back {
                self.close_loop(key, state)?;
            }
        }
        Ok(on)
    }

    /// Divides paths at one place into classes that know the same. If these are too many, the nearest are joined.
    fn classes(&mut self, states: Vec<State>) -> Result<Vec<Vec<State>>, Stop> {
        let mut classes: Vec<Vec<State>> = Vec::new();
        for state in states {
            self.meter.look_at_the_clock(&self.machine.program)?;
            let same = |class: &Vec<State>| distance(&class[0], &state, self.wanted) == Distance::default();
            match classes.iter().position(same) {
                Some(class) => classes[class].push(state),
                None => classes.push(vec![state]),
            }
        }
        let most = self.most_versions();
        if classes.len() <= most {
            return Ok(classes);
        }
        let mut distances: BTreeMap<(usize, usize), Distance> = BTreeMap::new();
        for b in 1..classes.len() {
            self.meter.look_at_the_clock(&self.machine.program)?;
            for a in 0..b {
                distances.insert((a, b), distance(&classes[a][0], &classes[b][0], self.wanted));
            }
        }
        let mut left = classes.len();
        while left > most
            && let Some((a, b)) =
                distances.iter().min_by_key(|(_, distance)| **distance).map(|(pair, _)| *pair)
        {
            self.meter.look_at_the_clock(&self.machine.program)?;
            let joined = std::mem::take(&mut classes[b]);
            classes[a].extend(joined);
            distances.retain(|(x, y), _| *x != b && *y != b);
            left -= 1;
        }
        classes.retain(|class| !class.is_empty());
        Ok(classes)
    }

    /// How many versions of a place there may be: the more residual code, the fewer.
    fn most_versions(&self) -> usize {
        let variants = self.meter.budget.variants;
        (GENEROUS / self.machine.residual.size.max(1)).clamp(FEWEST.min(variants), variants)
    }
}

/// How much two paths would lose by being merged.
fn distance(a: &State, b: &State, wanted: &mut Wanted) -> Distance {
    let mut distance = Distance::default();
    for depth in 0..a.frames.len() {
        let (x, y) = (&a.frames[depth].values, &b.frames[depth].values);
        if Rc::ptr_eq(x, y) {
            continue;
        }
        for value in wanted.of(a, depth).iter() {
            let (x, y) = (&x[value.0 as usize], &y[value.0 as usize]);
            if x == y || x.is_undef() || y.is_undef() {
                continue;
            }
            match (x.is_static(), y.is_static()) {
                (true, true) => distance.values += 1,
                (false, false) => {}
                _ => distance.other += 1,
            }
        }
    }
    distance.other += differing_knowledge(&a.facts, &b.facts);
    distance
}

/// The number of held cells in which two paths differ, and of which one knows the value.
fn differing_knowledge(a: &Facts, b: &Facts) -> usize {
    let held = a.memory.iter().filter(|(_, contents)| !contents.real).map(|(object, _)| object);
    let differing = held.map(|object| {
        let (Some(x), Some(y)) = (a.memory.get(object), b.memory.get(object)) else { return 0 };
        if y.real {
            return 0;
        }
        let cells = a.differing_cells(b, object).into_iter().filter(|(at, size)| {
            let (x, y) = (x.pieces(*at, *size), y.pieces(*at, *size));
            let there = |pieces: &[Piece]| pieces.iter().all(|(_, _, held)| held.is_some());
            *size <= LONGEST_CELL && there(&x) && there(&y) && (is_known(&x) || is_known(&y))
        });
        cells.count()
    });
    differing.sum()
}

/// Merges paths at the same place.
fn merge(mut states: Vec<State>, machine: &mut Machine, wanted: &mut Wanted) -> Result<State, Stop> {
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

/// An object that one path has made real, or given away, becomes so in all.
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

/// The slots in which paths differ. An object that differs in too much becomes real in all.
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

/// The type of a slot in all of some paths.
fn common_type(states: &[State], slot: Slot, machine: &Machine) -> Type {
    let mut types = states.iter().map(|state| slot.type_in(state, machine)).collect::<Vec<_>>();
    types.dedup();
    match (types.len(), slot) {
        (1, _) => types.remove(0),
        (_, Slot::Cell(_, _, size)) => Type::Int(size as u32 * 8),
        _ => types.remove(0),
    }
}

/// The object that a pointer in a slot points into, if it is the same in all of some paths.
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

/// Bytes of an object: from where, how many, and what is held there.
type Piece = (u64, u64, Option<Held>);

/// Whether one of the pieces is a value that is known.
fn is_known(pieces: &[Piece]) -> bool {
    pieces.iter().any(
        |(_, _, held)| matches!(held, Some(Held::Value(value, _)) if value.is_static() && !value.is_undef()),
    )
}

/// Which objects a path has made real or given away.
fn modes(state: &State) -> Vec<(ObjectId, bool, bool)> {
    state.facts.memory.iter().map(|(object, contents)| (object, contents.real, contents.escaped)).collect()
}

/// Divides paths by the chains of calls that they are in.
fn same_place(states: Vec<State>) -> Vec<Vec<State>> {
    let mut groups: Vec<Vec<State>> = Vec::new();
    for state in states {
        let same = |other: &State| {
            other.frames.len() == state.frames.len()
                && other.frames.iter().zip(state.frames.iter()).all(|(a, b)| {
                    (a.path, a.function, a.block, a.index) == (b.path, b.function, b.block, b.index)
                })
        };
        match groups.iter().position(|group| same(&group[0])) {
            Some(at) => groups[at].push(state),
            None => groups.push(vec![state]),
        }
    }
    groups
}
