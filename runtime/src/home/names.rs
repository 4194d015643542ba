//! The program's own naming context (`local:`): which names are exported, and which slots wait for names that are not.
//!
//! Addresses are only compared here. An instance ceases and revokes its own before its block is freed: see
//! [`crate::communication::connection::forget_names`].

use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::ops::Bound;

use drystone_component::Interface;

use crate::layout::RequiredSlot;

/// What a name stands for.
#[derive(Clone, Copy)]
pub struct Exported {
    /// As in [`RequiredSlot::target`].
    pub target: usize,
    /// Its interface.
    pub interface: &'static Interface,
}

/// A slot that waits for a name.
#[derive(Clone, Copy)]
pub struct Waiting {
    /// The slot that is to be connected.
    pub slot: *mut RequiredSlot,
    /// Its interface.
    pub interface: &'static Interface,
    /// Of the CONNECT.
    pub location: u32,
}

/// All names of a program.
pub struct Names {
    known: BTreeMap<Rc<[u8]>, Known>,
    /// The names of each target.
    targets: BTreeMap<usize, Vec<Rc<[u8]>>>,
    /// For what each slot waits, and its number there.
    slots: BTreeMap<*mut RequiredSlot, (Rc<[u8]>, u64)>,
    /// Slots that have waited so far.
    number: u64,
}

/// A name that is exported, or waited for.
#[derive(Default)]
struct Known {
    exported: Option<Exported>,
    /// In the order of their CONNECTs.
    waiting: BTreeMap<u64, Waiting>,
}

impl Names {
    /// No names.
    pub const fn new() -> Names {
        Names { known: BTreeMap::new(), targets: BTreeMap::new(), slots: BTreeMap::new(), number: 0 }
    }

    /// Whether no name is exported or waited for.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Whether any slot waits for a name.
    pub fn are_awaited(&self) -> bool {
        !self.slots.is_empty()
    }

    /// What a name stands for, if it is exported.
    pub fn exported(&self, name: &[u8]) -> Option<Exported> {
        self.known.get(name)?.exported
    }

    /// All names that are exported.
    pub fn all_exported(&self) -> impl Iterator<Item = &[u8]> {
        let exported = self.known.iter().filter(|(_, known)| known.exported.is_some());
        exported.map(|(name, _)| &name[..])
    }

    /// A name that is not exported stands for this from now on.
    pub fn export(&mut self, name: &[u8], exported: Exported) {
        let name: Rc<[u8]> = name.into();
        self.targets.entry(exported.target).or_default().push(name.clone());
        self.known.entry(name).or_default().exported = Some(exported);
    }

    /// What goes has no names any more.
    pub fn revoke(&mut self, target: usize) {
        for name in self.targets.remove(&target).unwrap_or_default() {
            self.change(&name, |known| known.exported = None);
        }
    }

    /// Whether anything is exported that stands for a target.
    pub fn lead_to(&self, target: usize) -> bool {
        self.targets.contains_key(&target)
    }

    /// The names of a target.
    pub fn names_of(&self, target: usize) -> Vec<Rc<[u8]>> {
        self.targets.get(&target).cloned().unwrap_or_default()
    }

    /// A slot that waits for nothing waits for a name from now on.
    pub fn wait(&mut self, name: &[u8], waiting: Waiting) {
        let name: Rc<[u8]> = name.into();
        self.number += 1;
        self.slots.insert(waiting.slot, (name.clone(), self.number));
        self.known.entry(name).or_default().waiting.insert(self.number, waiting);
    }

    /// A slot waits no longer.
    pub fn cease(&mut self, slot: *mut RequiredSlot) {
        if let Some((name, number)) = self.slots.remove(&slot) {
            self.change(&name, |known| _ = known.waiting.remove(&number));
        }
    }

    /// The slots that wait for a name, in order.
    pub fn waiting(&self, name: &[u8]) -> impl Iterator<Item = &Waiting> {
        self.known.get(name).into_iter().flat_map(|known| known.waiting.values())
    }

    /// The slots that wait for names that begin so, in their order.
    pub fn waiting_below(&self, beginning: &[u8]) -> Vec<(Rc<[u8]>, Waiting)> {
        let from = self.known.range::<[u8], _>((Bound::Included(beginning), Bound::Unbounded));
        let below = from.take_while(|(name, _)| name.starts_with(beginning));
        below
            .flat_map(|(name, known)| known.waiting.values().map(|waiting| (name.clone(), *waiting)))
            .collect()
    }

    /// For which name a slot waits.
    pub fn awaited(&self, slot: *mut RequiredSlot) -> Option<&[u8]> {
        self.slots.get(&slot).map(|(name, _)| &**name)
    }

    /// A name that nobody exports or waits for is forgotten.
    fn change(&mut self, name: &Rc<[u8]>, change: impl FnOnce(&mut Known)) {
        let Some(known) = self.known.get_mut(name) else { return };
        change(known);
        if known.exported.is_none() && known.waiting.is_empty() {
            self.known.remove(name);
        }
    }
}
