//! Where paths meet: those that know the same go on as one.

use super::memory::Held;
use super::slots::{LONGEST_CELL, Slot};
use super::state::{Arrival, State};
use super::value::{ObjectId, Value};
use super::{Evaluator, Stop};
use crate::ir::{Operand, Terminator, Type};
use std::collections::BTreeSet;
use std::rc::Rc;

/// What paths must not forget by going on as one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Care {
    /// Anything that one of them knows, of values and of memory.
    Everything,
    /// Values that both know, and that differ.
    KnownValues,
}

impl Evaluator<'_> {
    /// What goes on from a place when all paths that come there are there.
    pub fn join(&mut self, key: &[u32], arrivals: Vec<State>) -> Result<Vec<State>, Stop> {
        let mut on = Vec::new();
        for group in same_place(arrivals) {
            let (back, rest): (Vec<_>, Vec<_>) =
                group.into_iter().partition(|state| state.arrival == Arrival::Back);
            let header = rest.iter().any(|state| state.arrival == Arrival::Header);
            for class in self.classes(rest) {
                let state = self.merge(class)?;
                on.push(if header { self.begin_loop(key, state)? } else { state });
            }
            for state in back {
                self.close_loop(key, state)?;
            }
        }
        Ok(on)
    }

    /// Divides paths at one place by what they know; if that makes too many, by what they know for certain of values
    /// alone; and if that makes too many, they all become one.
    fn classes(&mut self, states: Vec<State>) -> Vec<Vec<State>> {
        if states.len() <= 1 {
            return states.into_iter().map(|state| vec![state]).collect();
        }
        let limit = self.budget().variants;
        for care in [Care::Everything, Care::KnownValues] {
            let mut classes: Vec<Vec<usize>> = Vec::new();
            for at in 0..states.len() {
                match classes.iter().position(|class| !self.conflict(&states[class[0]], &states[at], care)) {
                    Some(class) => classes[class].push(at),
                    None => classes.push(vec![at]),
                }
            }
            if classes.len() <= limit {
                let mut states: Vec<Option<State>> = states.into_iter().map(Some).collect();
                let take = |class: Vec<usize>| class.into_iter().filter_map(|at| states[at].take()).collect();
                return classes.into_iter().map(take).collect();
            }
        }
        vec![states]
    }

    /// Whether one of two paths knows something that going on as one would forget.
    fn conflict(&mut self, a: &State, b: &State, care: Care) -> bool {
        let defined = |x: &Value, y: &Value| !x.is_undef() && !y.is_undef();
        let differ = |x: &Value, y: &Value| match care {
            Care::Everything => x != y && (x.is_static() || y.is_static()) && defined(x, y),
            Care::KnownValues => x != y && x.is_static() && y.is_static() && defined(x, y),
        };
        for depth in 0..a.frames.len() {
            if Rc::ptr_eq(&a.frames[depth].values, &b.frames[depth].values) {
                continue;
            }
            let wanted = self.wanted(a, depth);
            let (x, y) = (&a.frames[depth].values, &b.frames[depth].values);
            if wanted.iter().any(|value| differ(&x[value.0 as usize], &y[value.0 as usize])) {
                return true;
            }
        }
        care == Care::Everything && self.memory_conflict(a, b)
    }

    /// The same for what they hold in memory.
    fn memory_conflict(&mut self, a: &State, b: &State) -> bool {
        let objects: Vec<ObjectId> =
            a.memory.iter().filter(|(_, contents)| !contents.real).map(|(o, _)| o).collect();
        objects.into_iter().any(|object| {
            let (Some(x), Some(y)) = (a.memory.get(object), b.memory.get(object)) else { return false };
            !y.real
                && self.differing_cells(a, b, object).into_iter().any(|(at, size)| {
                    let (x, y) = (x.pieces(at, size), y.pieces(at, size));
                    let there = |pieces: &[Piece]| pieces.iter().all(|(_, _, held)| held.is_some());
                    size <= LONGEST_CELL && there(&x) && there(&y) && (is_known(&x) || is_known(&y))
                })
        })
    }

    /// Makes one path of several at the same place.
    fn merge(&mut self, mut states: Vec<State>) -> Result<State, Stop> {
        if states.len() == 1 {
            return Ok(states.remove(0));
        }
        let slots = self.even_out(&mut states)?;
        let block = self.residual.block(String::new());
        let mut inputs: Vec<Vec<Operand>> = vec![Vec::new(); states.len()];
        let mut phis = Vec::new();
        for slot in &slots {
            let ty = self.common_type(&states, *slot);
            let object = self.common_object(&mut states, *slot, &ty)?;
            for (state, inputs) in states.iter_mut().zip(&mut inputs) {
                inputs.push(self.slot_operand(state, *slot, &ty, object)?);
            }
            phis.push((*slot, ty, object));
        }
        let froms: Vec<_> = states.iter().map(|state| state.block).collect();
        let mut merged = states.swap_remove(0);
        for other in &states {
            self.forget_differences(&mut merged, other);
        }
        for from in &froms {
            self.residual.end(*from, Terminator::Jump(block));
        }
        merged.block = block;
        for (at, (slot, ty, object)) in phis.into_iter().enumerate() {
            let phi = self.residual.phi(block, ty);
            for (inputs, from) in inputs.iter().zip(&froms) {
                self.residual.phi_input(block, at, inputs[at].clone(), *from);
            }
            if let Some(object) = object {
                self.pointees.insert(phi, object);
            }
            if let Slot::Local(depth, value) = slot {
                let name = merged.frames[depth as usize].body.names.get(value.0 as usize).cloned();
                self.residual.name(phi, name.as_deref().unwrap_or(""));
            }
            self.set_slot(&mut merged, slot, phi);
        }
        Ok(merged)
    }

    /// Brings the memories of paths to the same form, and finds the slots in which they differ.
    fn even_out(&mut self, states: &mut [State]) -> Result<Vec<Slot>, Stop> {
        loop {
            self.even_out_modes(states)?;
            let slots = self.differing(states)?;
            let before: Vec<_> = states.iter().map(modes).collect();
            for slot in &slots {
                let ty = self.common_type(states, *slot);
                let object = self.common_object(states, *slot, &ty)?;
                for state in states.iter_mut() {
                    let value = self.slot(state, *slot, &ty)?;
                    if let Some(pointee) = self.pointee(&value).or(value.object()) {
                        match object {
                            Some(object) => self.materialise(state, object)?,
                            None => self.escape(state, pointee)?,
                        }
                    }
                }
            }
            if before == states.iter().map(modes).collect::<Vec<_>>() {
                return Ok(slots);
            }
        }
    }

    fn even_out_modes(&mut self, states: &mut [State]) -> Result<(), Stop> {
        loop {
            let before: Vec<_> = states.iter().map(modes).collect();
            let objects: BTreeSet<ObjectId> =
                states.iter().flat_map(|s| s.memory.iter().map(|(o, _)| o)).collect();
            for object in objects {
                states.iter_mut().for_each(|state| self.ensure(state, object));
                let is = |what: fn(&super::memory::Contents) -> bool, states: &[State]| {
                    states.iter().any(|state| state.memory.get(object).is_some_and(what))
                };
                let (real, escaped) = (is(|c| c.real, states), is(|c| c.escaped, states));
                for state in states.iter_mut().filter(|_| real) {
                    self.materialise(state, object)?;
                    if escaped {
                        self.escape(state, object)?;
                    }
                }
            }
            if before == states.iter().map(modes).collect::<Vec<_>>() {
                return Ok(());
            }
        }
    }

    /// The slots in which paths differ. An object that differs in too much becomes real in all.
    fn differing(&mut self, states: &mut [State]) -> Result<Vec<Slot>, Stop> {
        let mut slots = BTreeSet::new();
        for depth in 0..states[0].frames.len() {
            for value in self.wanted(&states[0], depth).iter() {
                let of = |state: &State| state.frames[depth].values[value.0 as usize].clone();
                let first = of(&states[0]);
                if states[1..].iter().any(|state| of(state) != first) {
                    slots.insert(Slot::Local(depth as u32, *value));
                }
            }
        }
        let objects: Vec<ObjectId> = states[0].memory.iter().map(|(object, _)| object).collect();
        for object in objects {
            if states.iter().any(|state| state.memory.get(object).is_none()) {
                continue;
            }
            let base = |state: &State| state.memory.get(object).and_then(|contents| contents.base);
            let first = base(&states[0]);
            if states[1..].iter().any(|state| base(state) != first) {
                slots.insert(Slot::Base(object));
            }
            if states[0].memory.get(object).is_some_and(|contents| contents.real) {
                continue;
            }
            let mut cells = BTreeSet::new();
            for other in &states[1..] {
                cells.extend(self.differing_cells(&states[0], other, object));
            }
            let overlapping = cells.iter().zip(cells.iter().skip(1)).any(|(a, b)| a.0 + a.1 > b.0);
            if overlapping || cells.iter().any(|(_, size)| *size > LONGEST_CELL) {
                for state in states.iter_mut() {
                    self.materialise(state, object)?;
                }
                continue;
            }
            slots.extend(cells.into_iter().map(|(at, size)| Slot::Cell(object, at, size)));
        }
        Ok(slots.into_iter().collect())
    }

    /// The type of a slot in all of some paths.
    fn common_type(&mut self, states: &[State], slot: Slot) -> Type {
        let mut types = states.iter().map(|state| self.slot_type(state, slot)).collect::<Vec<_>>();
        types.dedup();
        match (types.len(), slot) {
            (1, _) => types.remove(0),
            (_, Slot::Cell(_, _, size)) => Type::Int(size as u32 * 8),
            _ => types.remove(0),
        }
    }

    fn common_object(
        &mut self,
        states: &mut [State],
        slot: Slot,
        ty: &Type,
    ) -> Result<Option<ObjectId>, Stop> {
        if *ty != Type::Ptr || matches!(slot, Slot::Base(_)) {
            return Ok(None);
        }
        let mut values = Vec::new();
        for state in states.iter_mut() {
            values.push(self.slot(state, slot, ty)?);
        }
        Ok(self.one_object(&values))
    }

    /// Forgets what one path knows of real memory and another doesn't.
    pub fn forget_differences(&mut self, state: &mut State, other: &State) {
        state.not_null = state.not_null.intersection(&other.not_null).copied().collect();
        if !Rc::ptr_eq(&state.not_zero, &other.not_zero) {
            state.not_zero = Rc::new(state.not_zero.intersection(&other.not_zero).copied().collect());
        }
        if !Rc::ptr_eq(&state.seen, &other.seen) {
            Rc::make_mut(&mut state.seen).retain(|pointer, value| other.seen.get(pointer) == Some(value));
        }
        state.branches = state.branches.max(other.branches);
        for (mine, theirs) in state.frames.iter_mut().zip(&other.frames) {
            for (mine, theirs) in mine.loops.iter_mut().zip(&theirs.loops) {
                mine.dynamic_exit |= theirs.dynamic_exit;
            }
        }
        let objects: Vec<ObjectId> = state.memory.iter().map(|(object, _)| object).collect();
        for object in objects {
            let Some(theirs) = other.memory.get(object) else {
                state.memory.remove(object);
                continue;
            };
            let Some(mine) = state.memory.get(object) else { continue };
            if !mine.real || mine.cells == theirs.cells {
                continue;
            }
            let cells = theirs.cells.clone();
            if let Some(mine) = state.memory.get_mut(object) {
                mine.cells.retain(|at, cell| cells.get(at) == Some(cell));
            }
        }
    }
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
    state.memory.iter().map(|(object, contents)| (object, contents.real, contents.escaped)).collect()
}

/// Divides paths by the calls that they are in.
fn same_place(states: Vec<State>) -> Vec<Vec<State>> {
    let mut groups: Vec<Vec<State>> = Vec::new();
    for state in states {
        let same = |other: &State| {
            other.frames.len() == state.frames.len()
                && other.frames.iter().zip(&state.frames).all(|(a, b)| {
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
