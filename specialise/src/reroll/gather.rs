//! Reorders a block so that runs can be found in it. A large copy through eliminated buffers arrives as all loads, then
//! all computations, then all stores; a run needs the steps of each repetition next to each other.
//!
//! Loads and computations move down to their first use, stores up to the definition of their value. If two accesses may
//! overlap and one is a store, they keep their order. Instructions move only past plain loads, plain stores and pure
//! computations.

use super::steps::NOWHERE;
use crate::ir::{Access, Body, Instruction, Op, Operand};
use crate::tidy::{Addresses, Known, Place, Roots, Surroundings, known_call};
use std::collections::{BTreeMap, BTreeSet};

/// A stretch whose accesses have more anchors than this stays as it is, because reordering it would be slow.
const ANCHORS: usize = 16;

/// The greatest size of an access in a stretch, in bytes.
const WIDEST: i64 = 16;

/// A store moves up only if at most this many accesses to the same bytes are still to come.
const LOOKED_AT: usize = 32;

/// The function with the instructions of some blocks reordered.
pub(super) fn gathered(body: &Body, blocks: &[usize], around: &Surroundings, roots: &Roots) -> Body {
    let mut addresses = Addresses::default();
    for instruction in body.blocks.iter().flat_map(|block| &block.instructions) {
        addresses.note(instruction.result, &instruction.op);
    }
    let mut gather = Gather { body, around, roots, addresses, makers: vec![NOWHERE; body.types.len()] };
    let mut new = body.clone();
    for at in blocks {
        gather.block(&mut new.blocks[*at].instructions);
    }
    new
}

/// Facts about the function.
struct Gather<'a> {
    /// The function.
    body: &'a Body,
    /// The module.
    around: &'a Surroundings<'a>,
    /// The objects that pointers point into.
    roots: &'a Roots,
    /// All addresses.
    addresses: Addresses,
    /// For each value, the item of the current stretch that computes it.
    makers: Vec<u32>,
}

impl Gather<'_> {
    /// Reorders every stretch of a block.
    fn block(&mut self, instructions: &mut [Instruction]) {
        let movable = |instruction: &Instruction| self.is_movable(instruction);
        let ends: Vec<bool> = instructions.iter().map(|instruction| !movable(instruction)).collect();
        let mut rest = instructions;
        for stretch in ends.split_inclusive(|end| *end) {
            let (now, later) = std::mem::take(&mut rest).split_at_mut(stretch.len());
            let barrier = usize::from(stretch.ends_with(&[true]));
            self.stretch(&mut now[..stretch.len() - barrier]);
            rest = later;
        }
    }

    /// Whether an instruction may stand anywhere between its operands and its uses.
    fn is_movable(&self, instruction: &Instruction) -> bool {
        match &instruction.op {
            Op::Load { access: Access::Plain, .. } => is_narrow(instruction.ty.store_size()),
            Op::Store { value, access: Access::Plain, .. } => {
                is_narrow(self.body.type_of(value).store_size())
            }
            Op::Call { .. } => known_call(self.around.module, &instruction.op) == Some(Known::Pure),
            Op::Phi(_)
            | Op::Alloca { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::AtomicUpdate(..)
            | Op::CompareExchange(..)
            | Op::Fence => false,
            _ => true,
        }
    }

    /// Reorders a stretch of movable instructions.
    fn stretch(&mut self, instructions: &mut [Instruction]) {
        let items = self.items(instructions);
        if let Some(pending) = Pending::of(&items) {
            let order = Order::of(&items, pending);
            let old = instructions.to_vec();
            for (to, from) in instructions.iter_mut().zip(order) {
                *to = old[from].clone();
            }
        }
    }

    /// The dependences and accesses of a stretch's instructions.
    fn items(&mut self, instructions: &[Instruction]) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::with_capacity(instructions.len());
        for (at, instruction) in instructions.iter().enumerate() {
            let mut needs = Vec::new();
            instruction.op.operands().for_each(|operand| needs.extend(self.maker(operand)));
            let height = needs.iter().map(|need| items[*need].height + 1).max().unwrap_or(0);
            needs.iter().for_each(|need| items[*need].is_needed = true);
            let access = match &instruction.op {
                Op::Load { from, .. } => Some(self.addresses.access(from, &instruction.ty, self.roots)),
                Op::Store { value, to, .. } => {
                    self.maker(value).into_iter().for_each(|maker| items[maker].stores.push(at));
                    Some(self.addresses.access(to, &self.body.type_of(value), self.roots))
                }
                _ => None,
            };
            let is_store = matches!(instruction.op, Op::Store { .. });
            let is_address = matches!(instruction.op, Op::Address { .. });
            let stores = Vec::new();
            items.push(Item { needs, height, access, is_store, is_address, stores, is_needed: false });
            if let Some(result) = instruction.result {
                self.makers[result.0 as usize] = at as u32;
            }
        }
        for result in instructions.iter().filter_map(|instruction| instruction.result) {
            self.makers[result.0 as usize] = NOWHERE;
        }
        items
    }

    /// The item that computes an operand.
    fn maker(&self, operand: &Operand) -> Option<usize> {
        let Operand::Value(value) = operand else { return None };
        let maker = self.makers[value.0 as usize];
        (maker != NOWHERE).then_some(maker as usize)
    }
}

/// Whether an access of this size may be moved.
fn is_narrow(size: u64) -> bool {
    size <= WIDEST.unsigned_abs()
}

/// An instruction of a stretch.
struct Item {
    /// The items whose results it uses.
    needs: Vec<usize>,
    /// The length of the longest chain of items that it needs.
    height: u32,
    /// The bytes that it loads or stores.
    access: Option<Place>,
    /// Whether it stores them.
    is_store: bool,
    /// Whether it computes an address.
    is_address: bool,
    /// The stores of its result.
    stores: Vec<usize>,
    /// Whether an item needs it.
    is_needed: bool,
}

/// The accesses that have not been placed in the new order.
struct Pending(Vec<Anchored>);

/// The accesses with the same anchor.
struct Anchored {
    /// One of the accesses, for their anchor and root.
    place: Place,
    /// By first byte and item, the byte after the last one.
    by_offset: BTreeMap<(i64, usize), i64>,
    /// The items.
    items: BTreeSet<usize>,
}

impl Pending {
    /// All accesses; `None` if they have too many anchors.
    fn of(items: &[Item]) -> Option<Pending> {
        let mut pending = Pending(Vec::new());
        for (at, item) in items.iter().enumerate() {
            let Some(place) = &item.access else { continue };
            if pending.group(place).is_none() {
                let (by_offset, items) = Default::default();
                pending.0.push(Anchored { place: place.clone(), by_offset, items });
            }
            let group = pending.group(place)?;
            group.by_offset.insert((place.offset, at), place.end());
            group.items.insert(at);
            if pending.0.len() > ANCHORS {
                return None;
            }
        }
        Some(pending)
    }

    /// The accesses with the anchor of a place.
    fn group(&mut self, place: &Place) -> Option<&mut Anchored> {
        self.0.iter_mut().find(|group| group.place.anchor == place.anchor)
    }

    /// Removes an access that has been placed.
    fn remove(&mut self, at: usize, place: &Place) {
        if let Some(group) = self.group(place) {
            group.by_offset.remove(&(place.offset, at));
            group.items.remove(&at);
        }
    }

    /// The accesses that stood before a store and may overlap it.
    fn clashing(&self, store: usize, place: &Place) -> Vec<usize> {
        let at_group = |group: &Anchored| -> Vec<usize> {
            if group.place.anchor == place.anchor {
                group.overlapping(place).filter(|at| *at < store).collect()
            } else if group.place.root.may_alias(place.root) {
                group.items.range(..store).copied().collect()
            } else {
                Vec::new()
            }
        };
        self.0.iter().flat_map(at_group).collect()
    }

    /// Whether a store may move before all accesses that stood before it.
    fn lets_pass(&self, store: usize, place: &Place) -> bool {
        self.0.iter().all(|group| {
            if group.place.anchor == place.anchor {
                let mut overlapping = group.overlapping(place).take(LOOKED_AT + 1).enumerate();
                overlapping.all(|(count, at)| count < LOOKED_AT && at >= store)
            } else {
                !group.place.root.may_alias(place.root) || group.items.range(..store).next().is_none()
            }
        })
    }
}

impl Anchored {
    /// The accesses with this anchor that overlap a place.
    fn overlapping(&self, place: &Place) -> impl Iterator<Item = usize> {
        let near = (place.offset.saturating_sub(WIDEST), 0)..(place.end(), 0);
        let from = place.offset;
        self.by_offset.range(near).filter(move |(_, end)| **end > from).map(|((_, at), _)| *at)
    }
}

/// The new order under construction.
struct Order<'a> {
    /// The instructions.
    items: &'a [Item],
    /// The order so far.
    order: Vec<usize>,
    /// For each item, whether it has been placed.
    done: Vec<bool>,
    /// The accesses that have not been placed.
    pending: Pending,
}

/// A task for an item.
enum Visit {
    /// Place the item after its dependences.
    Enter(usize),
    /// The dependences have been placed.
    Leave(usize),
}

impl Order<'_> {
    /// Stores, and items that no other item needs, keep their order; each is preceded by the items that it needs.
    fn of(items: &[Item], pending: Pending) -> Vec<usize> {
        let done = vec![false; items.len()];
        let mut order = Order { items, order: Vec::with_capacity(items.len()), done, pending };
        for (at, item) in items.iter().enumerate() {
            if !item.is_needed {
                order.draw(at);
            }
        }
        order.order
    }

    /// Places an item after all items that must come before it. The longest chain of dependences is placed first: it is
    /// a sum carried from repetition to repetition.
    fn draw(&mut self, root: usize) {
        let mut visits = vec![Visit::Enter(root)];
        while let Some(visit) = visits.pop() {
            match visit {
                Visit::Enter(at) if !self.done[at] => {
                    let item = &self.items[at];
                    let mut before = item.needs.clone();
                    if let (true, Some(place)) = (item.is_store, &item.access) {
                        before.extend(self.pending.clashing(at, place));
                    }
                    before.reverse();
                    before.sort_by_key(|need| self.items[*need].height);
                    visits.push(Visit::Leave(at));
                    visits.extend(before.into_iter().map(Visit::Enter));
                }
                Visit::Leave(at) if !self.done[at] => {
                    self.put(at);
                    for store in &self.items[at].stores {
                        self.lift(*store);
                    }
                }
                Visit::Enter(_) | Visit::Leave(_) => {}
            }
        }
    }

    /// Places a store directly after its value, together with the computation of its address, if the store may stand
    /// there.
    fn lift(&mut self, store: usize) {
        let item = &self.items[store];
        let Some(place) = &item.access else { return };
        let missing: Vec<usize> = item.needs.iter().copied().filter(|need| !self.done[*need]).collect();
        let is_simple = |need: &usize| {
            let need = &self.items[*need];
            need.is_address && need.needs.iter().all(|inner| self.done[*inner])
        };
        if !self.done[store] && missing.iter().all(is_simple) && self.pending.lets_pass(store, place) {
            missing.into_iter().for_each(|address| self.put(address));
            self.put(store);
        }
    }

    /// Appends an item to the order.
    fn put(&mut self, at: usize) {
        self.done[at] = true;
        self.order.push(at);
        if let Some(place) = &self.items[at].access {
            self.pending.remove(at, place);
        }
    }
}
