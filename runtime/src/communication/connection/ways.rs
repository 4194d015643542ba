//! The ways from a required interface to what serves it, and back: targets, clients, relays.
//!
//! A required slot points at its target; targets know who is connected to them, so that both ends can be undone. An
//! offered slot's list of clients also says whose slot it is: where the list has no first, or the first has no
//! previous, stands the instance with bit 0 set.
//!
//! # Why this is sound
//! See the connection module.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::vec::Vec;
use core::ptr::{self, null_mut};

use drystone_component::Offered;

use crate::far::standing::behind;
use crate::instance::{slot_at, template_of};
use crate::layout::*;

pub fn tag<T>(instance: *mut Instance) -> *mut T {
    instance.map_addr(|address| address | 1).cast()
}

pub fn is_tagged<T>(pointer: *mut T) -> bool {
    pointer.addr() & 1 != 0
}

pub fn untag<T, U>(pointer: *mut T) -> *mut U {
    pointer.map_addr(|address| address & !1).cast()
}

/// A slot's target, as its pointer.
pub enum Target {
    Nothing,
    Offered(*mut OfferedSlot),
    PassedOn(*mut RequiredSlot),
}

pub fn decode(target: usize) -> Target {
    match target {
        0 => Target::Nothing,
        t if t & 1 != 0 => Target::PassedOn(ptr::with_exposed_provenance_mut(t & !1)),
        t => Target::Offered(ptr::with_exposed_provenance_mut(t)),
    }
}

/// Whether what a target leads to has been ended by force.
pub unsafe fn is_dead(target: usize) -> bool {
    match decode(target) {
        Target::Offered(slot) => (*owner(slot)).live & DEAD != 0,
        Target::PassedOn(slot) => (*(*slot).instance).live & DEAD != 0,
        Target::Nothing => false,
    }
}

/// A component and which of the interfaces that it implements.
pub type Server = (*mut Instance, &'static Offered);

/// Marks a new instance's offered slot as its own.
#[inline]
pub unsafe fn init_offered(slot: *mut OfferedSlot, instance: *mut Instance) {
    (*slot).clients = tag(instance);
}

/// The instance that an offered slot is part of.
pub unsafe fn owner(slot: *mut OfferedSlot) -> *mut Instance {
    let first = (*slot).clients;
    if is_tagged(first) { untag(first) } else { untag((*first).previous) }
}

/// First of those connected to an offered interface of an instance, or null.
pub unsafe fn first_client(instance: *mut Instance, offered: &Offered) -> *mut RequiredSlot {
    if !offered.connectable {
        return null_mut();
    }
    let first = (*slot_at::<OfferedSlot>(instance, offered.offset)).clients;
    if is_tagged(first) { null_mut() } else { first }
}

/// How many are connected to an offered interface of an instance.
pub unsafe fn clients_of(instance: *mut Instance, offered: &Offered) -> usize {
    let mut client = first_client(instance, offered);
    let mut count = 0;
    while !client.is_null() {
        count += 1;
        client = (*client).next;
    }
    count
}

/// An offered slot that something can be connected to.
pub unsafe fn description(slot: *mut OfferedSlot) -> (*mut Instance, &'static Offered) {
    let instance = owner(slot);
    (instance, offered_at(instance, slot))
}

pub unsafe fn offered_at(instance: *mut Instance, slot: *mut OfferedSlot) -> &'static Offered {
    let offered = (*template_of(instance)).offered.get();
    let offset = slot.addr() - instance.addr();
    offered.iter().find(|o| o.offset as usize == offset).unwrap_unchecked()
}

/// What serves the holder of a component in the end, if all of the chain is connected.
pub unsafe fn resolve_held(instance: *mut Instance, slot: *mut OfferedSlot) -> Option<Server> {
    let offered = offered_at(instance, slot);
    match offered.body {
        Offered::INWARD => resolve((*slot_at::<RequiredSlot>(instance, offered.inward)).target),
        _ => Some((instance, offered)),
    }
}

/// What serves a slot in the end, if all of the chain is connected.
pub unsafe fn resolve(mut target: usize) -> Option<Server> {
    loop {
        match decode(target) {
            Target::Nothing => return None,
            Target::PassedOn(slot) => target = (*slot).target,
            Target::Offered(slot) => {
                let (instance, offered) = description(slot);
                if offered.body != Offered::INWARD {
                    return Some((instance, offered));
                }
                target = (*slot_at::<RequiredSlot>(instance, offered.inward)).target;
            }
        }
    }
}

/// The slot that leads on from a target; null where nothing is connected, or an implementation.
pub unsafe fn slot_behind(target: usize) -> *mut RequiredSlot {
    match decode(target) {
        Target::Nothing => null_mut(),
        Target::PassedOn(slot) => slot,
        Target::Offered(slot) => {
            let (instance, offered) = description(slot);
            if offered.body == Offered::INWARD { slot_at(instance, offered.inward) } else { null_mut() }
        }
    }
}

/// Where a slot leads, or would.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// To itself.
    Cycle,
    /// To a slot that isn't connected.
    Nowhere,
    /// To an implementation; or few slots lead to the one that was asked about.
    Somewhere,
}

/// Where a slot leads whose target is this one. Goes on from the target and back from the slot by turns, so that a long
/// chain costs nothing at either of its ends.
pub unsafe fn way(slot: *mut RequiredSlot, target: usize) -> Way {
    let mut last = target;
    let first = slot_behind(target);
    let mut ahead = first;
    let mut before = Before { slots: Vec::new(), next: slot };
    while !ahead.is_null() {
        match before.next() {
            None => return Way::Somewhere,
            Some(found) if found == first || ahead == slot => return Way::Cycle,
            Some(_) => {
                last = (*ahead).target;
                ahead = slot_behind(last);
            }
        }
    }
    if matches!(decode(last), Target::Nothing) { Way::Nowhere } else { Way::Somewhere }
}

/// The sibling-to-be-asked: whose offered slot it is that a slot is connected to directly, or through what BY has put
/// there.
pub unsafe fn direct_server(slot: *mut RequiredSlot) -> *mut Instance {
    match decode((*slot).target) {
        Target::Offered(offered) => match behind(owner(offered)) {
            behind if behind.is_null() => owner(offered),
            behind => direct_server(behind),
        },
        _ => null_mut(),
    }
}

pub unsafe fn link(slot: *mut RequiredSlot, target: usize) {
    (*slot).target = target;
    let first = match decode(target) {
        Target::Nothing => return,
        Target::PassedOn(to) => &raw mut (*to).clients,
        Target::Offered(to) => &raw mut (*to).clients,
    };
    let old = *first;
    if is_tagged(old) || old.is_null() {
        (*slot).previous = old;
        (*slot).next = null_mut();
    } else {
        (*slot).previous = (*old).previous;
        (*slot).next = old;
        (*old).previous = slot;
    }
    *first = slot;
}

/// Where a communication is kept by its client.
pub struct Leaf {
    /// The slot's word.
    pub cell: *mut *mut Communication,
    /// The client's slot; null for the holder's communication.
    pub slot: *mut RequiredSlot,
    /// The component whose slot it is; for the holder's communication the one that is held.
    pub client: *mut Instance,
}

/// The slots from which the way to a server leads over a slot: itself, and those of everyone to whom it is passed on.
pub struct Before {
    slots: Vec<*mut RequiredSlot>,
    /// The next, or null.
    next: *mut RequiredSlot,
}

impl Before {
    /// One more; those that lead to it come later.
    unsafe fn next(&mut self) -> Option<*mut RequiredSlot> {
        let slot = if self.next.is_null() { self.slots.pop()? } else { self.next };
        self.next = null_mut();
        self.push((*slot).clients);
        if let Some(offered) = inward_of(slot) {
            self.push(first_client((*slot).instance, offered));
        }
        Some(slot)
    }

    unsafe fn push(&mut self, mut client: *mut RequiredSlot) {
        while !client.is_null() {
            // One, the usual number, needs no memory.
            if self.next.is_null() {
                self.next = client;
            } else {
                self.slots.push(client);
            }
            client = (*client).next;
        }
    }
}

/// The offered interface that a slot leads inward, if it is such a slot.
pub unsafe fn inward_of(slot: *mut RequiredSlot) -> Option<&'static Offered> {
    let instance = (*slot).instance;
    let offered = (*template_of(instance)).offered.get();
    offered.iter().find(|o| o.body == Offered::INWARD && slot_at(instance, o.inward) == slot)
}

/// Calls `each` for all communications, begun or not, that go through a required slot: its own and those of
/// everyone to whom it is passed on.
pub unsafe fn leaves_through(slot: *mut RequiredSlot, mut each: impl FnMut(Leaf)) {
    let mut before = Before { slots: Vec::new(), next: slot };
    while let Some(slot) = before.next() {
        leaves_of(slot, &mut each);
    }
}

/// The same, but of a slot that leads nowhere its own only: what has been left to the others doesn't go through it.
pub unsafe fn leaves_served_through(slot: *mut RequiredSlot, mut each: impl FnMut(Leaf)) {
    let is_end = (*slot).clients.is_null() && inward_of(slot).is_none();
    if is_end || way(slot, (*slot).target) == Way::Nowhere {
        return leaves_of(slot, &mut each);
    }
    leaves_through(slot, each);
}

unsafe fn leaves_of(slot: *mut RequiredSlot, each: &mut impl FnMut(Leaf)) {
    let client = (*slot).instance;
    each(Leaf { cell: &raw mut (*slot).communication, slot, client });
    if let Some(offered) = inward_of(slot) {
        let from = slot_at::<OfferedSlot>(client, offered.offset);
        each(Leaf { cell: &raw mut (*from).holder, slot: null_mut(), client });
    }
}
