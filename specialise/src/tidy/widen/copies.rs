//! Loads whose values are only stored, directly or byte-swapped. One group is open at a time: code that copies several
//! objects in turns is rare.

use super::pieces::{Pieces, WIDTHS, overlaps, parts, range};
use super::room::{Room, Swaps};
use crate::ir::{Binary, Const, Instruction, Op, Operand, Type, ValueId};
use crate::tidy::memory::Place;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// A load that may become part of a copy.
struct Loaded {
    /// The position of the load.
    position: usize,
    /// The bytes that it reads.
    place: Place,
    /// The position of the byte swap, if there is one.
    swap: Option<usize>,
}

/// A load and the store of its value.
#[derive(Clone, Copy)]
struct Copy {
    /// The position of the load.
    load: usize,
    /// The position of the byte swap between them.
    swap: Option<usize>,
    /// The position of the store.
    store: usize,
}

/// Copies from one anchor to another over the same distance. Either none is byte-swapped, or all are, and have the same
/// size.
struct Group {
    /// The source of the first copy.
    from: Place,
    /// The destination of the first copy.
    to: Place,
    /// Whether the copies are byte-swapped.
    swapped: bool,
    /// The copies, by destination.
    pieces: Pieces<Copy>,
    /// The position of the first store.
    first_store: usize,
}

/// The open group, and loads for the next one.
#[derive(Default)]
pub(super) struct Copies {
    /// The group.
    group: Option<Group>,
    /// Loads that may be part of a copy, by value.
    loaded: HashMap<ValueId, Loaded>,
    /// The last position of another write to memory. Loads before it can't move.
    last_write: Option<usize>,
}

impl Loaded {
    /// The copy that this store completes.
    fn stored(&self, store: usize) -> Copy {
        Copy { load: self.position, swap: self.swap, store }
    }
}

impl Group {
    /// Whether a load overlaps the written bytes.
    fn read_clashes(&self, place: &Place) -> bool {
        match (place.anchor == self.to.anchor, range(place)) {
            (true, Some((from, to))) => overlaps(&self.pieces, from, to),
            _ => self.to.root.may_alias(place.root),
        }
    }

    /// Whether a store overlaps the read or the written bytes.
    fn write_clashes(&self, place: &Place) -> bool {
        let distance = self.to.offset.wrapping_sub(self.from.offset);
        let read = match (place.anchor == self.from.anchor, range(place)) {
            (true, Some((from, to))) => {
                overlaps(&self.pieces, from.saturating_add(distance), to.saturating_add(distance))
            }
            _ => self.from.root.may_alias(place.root),
        };
        read || self.read_clashes(place)
    }

    /// Whether a copy extends this group.
    fn takes(&self, loaded: &Loaded, to: &Place) -> bool {
        let Some((start, end)) = range(to) else { return false };
        let apart = !self.from.root.may_alias(self.to.root);
        self.from.anchor == loaded.place.anchor
            && self.to.anchor == to.anchor
            && to.offset.wrapping_sub(loaded.place.offset) == self.to.offset.wrapping_sub(self.from.offset)
            && (apart || loaded.position < self.first_store)
            && self.swapped == loaded.swap.is_some()
            && (!self.swapped || self.from.size == loaded.place.size)
            && !overlaps(&self.pieces, start, end)
    }

    /// Writes the group as wider copies.
    fn settle(self, room: &mut Room) {
        let pair = [self.from.size.map_or(0, |size| size as i64 * 2)];
        let widths = if self.swapped { &pair[..] } else { &WIDTHS };
        for (width, part) in parts(&self.pieces, widths) {
            let bits = width as u32 * 8;
            let ty = Type::Int(bits);
            let value = room.value(ty.clone());
            let last_load = part.iter().map(|(_, copy)| copy.load).max().unwrap_or_default();
            let last_store = part.iter().map(|(_, copy)| copy.store).max().unwrap_or_default();
            let load = room.old[part[0].1.load].take();
            let store = room.old[part[0].1.store].take();
            for (_, copy) in &part {
                room.old[copy.load] = None;
                copy.swap.into_iter().for_each(|swap| room.old[swap] = None);
                room.old[copy.store] = None;
            }
            room.old[last_load] = load.map(|load| Instruction { result: Some(value), ty, ..load });
            room.old[last_store] = store;
            let value = match room.swaps {
                Some(swaps) if self.swapped => {
                    swap_halves(Operand::Value(value), bits, swaps, last_store, room)
                }
                _ => Operand::Value(value),
            };
            if let Some(Instruction { op: Op::Store { value: stored, .. }, .. }) = &mut room.old[last_store] {
                *stored = value;
            }
        }
    }
}

/// Swaps the bytes of each half of a value, before a position: swaps those of the whole, and then the halves.
fn swap_halves(value: Operand, bits: u32, swaps: Swaps, before: usize, room: &mut Room) -> Operand {
    let ty = Type::Int(bits);
    let callee = Operand::Const(Const::Function(swaps.of(bits)));
    let call = Op::Call { callee, args: vec![value], variadic: None, attributes: Rc::default() };
    let swapped = room.compute(before, &ty, call);
    let half = Operand::Const(Const::int(bits, u128::from(bits / 2)));
    let high = room.compute(before, &ty, Op::Binary(Binary::Shl, swapped.clone(), half.clone()));
    let low = room.compute(before, &ty, Op::Binary(Binary::LShr, swapped, half));
    room.compute(before, &ty, Op::Binary(Binary::Or, high, low))
}

impl Copies {
    /// Handles a load; `loaded` is its result if that has exactly one use.
    pub(super) fn load(
        &mut self,
        position: usize,
        place: Place,
        loaded: Option<(ValueId, Type)>,
        room: &mut Room,
    ) {
        if self.group.as_ref().is_some_and(|group| group.read_clashes(&place)) {
            self.settle(room);
        }
        if let Some((value, Type::Int(8 | 16 | 32) | Type::Float)) = loaded {
            self.loaded.insert(value, Loaded { position, place, swap: None });
        }
    }

    /// Handles a call that swaps the bytes of a value; `result` has exactly one use.
    pub(super) fn swap(&mut self, position: usize, value: ValueId, result: ValueId) {
        if let Some(loaded) = self.loaded.remove(&value)
            && loaded.swap.is_none()
        {
            self.loaded.insert(result, Loaded { swap: Some(position), ..loaded });
        }
    }

    /// Handles a store.
    pub(super) fn store(&mut self, position: usize, to: &Place, value: &Operand, room: &mut Room) {
        let loaded = match value {
            Operand::Value(value) => self.loaded.remove(value),
            Operand::Const(_) => None,
        };
        // The load can't move past a write between the load and this store, other than copies of the group.
        let movable = loaded.filter(|loaded| self.last_write.is_none_or(|write| write < loaded.position));
        if let (Some(group), Some(loaded)) = (&mut self.group, &movable)
            && group.takes(loaded, to)
            && let Some((start, end)) = range(to)
        {
            group.pieces.insert(start, (end, loaded.stored(position)));
            return;
        }
        if let Some(group) = &self.group
            && (movable.is_some() || group.write_clashes(to))
        {
            self.settle(room);
        }
        let movable = movable.filter(|loaded| self.last_write.is_none_or(|write| write < loaded.position));
        match (movable, range(to)) {
            (Some(loaded), Some((start, end))) => {
                let pieces = BTreeMap::from([(start, (end, loaded.stored(position)))]);
                let swapped = loaded.swap.is_some();
                let to = to.clone();
                self.group = Some(Group { from: loaded.place, to, swapped, pieces, first_store: position });
            }
            _ => self.last_write = Some(position),
        }
    }

    /// Handles an instruction that may access any memory.
    pub(super) fn barrier(&mut self, room: &mut Room) {
        self.settle(room);
        self.loaded = HashMap::new();
    }

    /// Writes the open group.
    fn settle(&mut self, room: &mut Room) {
        if let Some(group) = self.group.take() {
            // For the next group, the stores of this group are other writes.
            let written = group.pieces.values().map(|(_, copy)| copy.store).max();
            self.last_write = self.last_write.max(written);
            group.settle(room);
        }
    }
}
