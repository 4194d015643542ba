//! Loads whose value goes only into one store, as it is or byte-swapped. One group is open at a time: code that copies
//! several objects in turn is rare.

use super::pieces::{Pieces, WIDTHS, overlaps, parts, range};
use super::room::{Room, Swaps};
use crate::ir::{Binary, Const, Instruction, Op, Operand, Type, ValueId};
use crate::tidy::memory::Place;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// A load that waits for its store.
struct Loaded {
    /// Where it stands in the block.
    position: usize,
    /// What it reads.
    place: Place,
    /// Where its bytes are swapped, if they are.
    swap: Option<usize>,
}

/// A load and the store of its value.
#[derive(Clone, Copy)]
struct Copy {
    /// Where the load stands.
    load: usize,
    /// Where the bytes are swapped between them.
    swap: Option<usize>,
    /// Where the store stands.
    store: usize,
}

/// Copies from one anchor to another, all over the same distance; if bytes are swapped, in all, and of as many bytes.
struct Group {
    /// Where the first copy reads.
    from: Place,
    /// Where it writes.
    to: Place,
    /// Whether the bytes of each are swapped.
    swapped: bool,
    /// The copies, by what they write.
    pieces: Pieces<Copy>,
    /// Where the first store stands.
    first_store: usize,
}

/// The open group, and what a next one may begin with.
#[derive(Default)]
pub(super) struct Copies {
    /// The group.
    group: Option<Group>,
    /// Loads that may be part of a copy, by value.
    loaded: HashMap<ValueId, Loaded>,
    /// Where memory was last written otherwise; loads before that can't move.
    last_write: Option<usize>,
}

impl Loaded {
    /// The copy, if it is stored there.
    fn stored(&self, store: usize) -> Copy {
        Copy { load: self.position, swap: self.swap, store }
    }
}

impl Group {
    /// Whether a load touches what is written.
    fn read_clashes(&self, place: &Place) -> bool {
        match (place.anchor == self.to.anchor, range(place)) {
            (true, Some((from, to))) => overlaps(&self.pieces, from, to),
            _ => self.to.root.may_alias(place.root),
        }
    }

    /// Whether a store touches what is read or written.
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

    /// Whether a copy goes on with this group.
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

    /// Makes wider copies of them.
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

/// Swaps the bytes of both halves of a value, before a position: those of the whole, and then the halves.
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
    /// Goes past a load; `loaded` is its value if that is used just once.
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

    /// Goes past a call that swaps the bytes of a value; `result` is used just once.
    pub(super) fn swap(&mut self, position: usize, value: ValueId, result: ValueId) {
        if let Some(loaded) = self.loaded.remove(&value)
            && loaded.swap.is_none()
        {
            self.loaded.insert(result, Loaded { swap: Some(position), ..loaded });
        }
    }

    /// Goes past a store.
    pub(super) fn store(&mut self, position: usize, to: &Place, value: &Operand, room: &mut Room) {
        let loaded = match value {
            Operand::Value(value) => self.loaded.remove(value),
            Operand::Const(_) => None,
        };
        // What was written between the load and this store, but for copies of the group, holds the load where it is.
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

    /// Goes past what may touch any memory.
    pub(super) fn barrier(&mut self, room: &mut Room) {
        self.settle(room);
        self.loaded = HashMap::new();
    }

    /// Settles the open group.
    fn settle(&mut self, room: &mut Room) {
        if let Some(group) = self.group.take() {
            // The stores of this group are writes like others to the next one.
            let written = group.pieces.values().map(|(_, copy)| copy.store).max();
            self.last_write = self.last_write.max(written);
            group.settle(room);
        }
    }
}
