//! The ways from a required interface to what serves it, and back: targets, clients, relays.
//!
//! A required slot points at its target; a target has a list of its clients, so that a connection can be undone from
//! both ends. An offered slot's list also leads to the slot's instance: that stands, with bit 0 set, in the place of
//! the first client, or where the first client's link to the previous one would be.

use alloc::vec::Vec;
use core::ptr::{self, null_mut};

use drystone_component::Offered;

use crate::far::standing::behind;
use crate::home::{is_home, team};
use crate::instance::{slot_at, template_of};
use crate::layout::*;

/// An instance in the place of a neighbour in a list.
pub fn tag<T>(instance: *mut Instance) -> *mut T {
    instance.map_addr(|address| address | 1).cast()
}

/// Whether a neighbour in a list is an instance.
pub fn is_tagged<T>(pointer: *mut T) -> bool {
    pointer.addr() & 1 != 0
}

/// The instance that stands in the place of a neighbour.
pub fn untag<T, U>(pointer: *mut T) -> *mut U {
    pointer.map_addr(|address| address & !1).cast()
}

/// A slot's target, as its pointer.
pub enum Target {
    /// It is unconnected.
    Nothing,
    /// An offered interface.
    Offered(*mut OfferedSlot),
    /// A required interface that is passed on.
    PassedOn(*mut RequiredSlot),
}

/// A target as its pointer.
pub fn decode(target: usize) -> Target {
    match target {
        0 => Target::Nothing,
        t if t & 1 != 0 => Target::PassedOn(ptr::with_exposed_provenance_mut(t & !1)),
        t => Target::Offered(ptr::with_exposed_provenance_mut(t)),
    }
}

/// The component that a target is a part of; null if it is none.
///
/// # Safety
/// The target is linked.
pub unsafe fn component_at(target: usize) -> *mut Instance {
    // SAFETY: the target is linked.
    unsafe {
        match decode(target) {
            Target::Nothing => null_mut(),
            Target::PassedOn(slot) => (*slot).instance,
            Target::Offered(slot) => owner(slot),
        }
    }
}

/// Whether what a target leads to has been ended by force.
///
/// # Safety
/// The target is linked.
pub unsafe fn is_dead(target: usize) -> bool {
    // SAFETY: the blocks of linked slots' instances are there.
    unsafe {
        let instance = component_at(target);
        !instance.is_null() && (*instance).is_dead()
    }
}

/// A component and which of the interfaces that it implements.
pub type Server = (*mut Instance, &'static Offered);

/// Marks a new instance's offered slot as its own.
///
/// # Safety
/// The slot is part of the instance, and something can be connected to it.
#[inline]
pub unsafe fn init_offered(slot: *mut OfferedSlot, instance: *mut Instance) {
    // SAFETY: the slot is there.
    unsafe { (*slot).clients = tag(instance) };
}

/// The instance that an offered slot is part of.
///
/// # Safety
/// The slot is linked.
pub unsafe fn owner(slot: *mut OfferedSlot) -> *mut Instance {
    // SAFETY: clients are linked.
    unsafe {
        let first = (*slot).clients;
        if is_tagged(first) { untag(first) } else { untag((*first).previous) }
    }
}

/// First of those connected to an offered interface of an instance, or null.
///
/// # Safety
/// The instance's block is there, and it offers this.
pub unsafe fn first_client(instance: *mut Instance, offered: &Offered) -> *mut RequiredSlot {
    if !offered.connectable {
        return null_mut();
    }
    // SAFETY: an offered slot begins there, with its list of clients.
    let first = unsafe { (*slot_at::<OfferedSlot>(instance, offered.offset)).clients };
    if is_tagged(first) { null_mut() } else { first }
}

/// How many are connected to an offered interface of an instance.
///
/// # Safety
/// The instance's block is there, and it offers this.
pub unsafe fn clients_of(instance: *mut Instance, offered: &Offered) -> usize {
    let mut count = 0;
    // SAFETY: clients are linked.
    unsafe {
        let mut client = first_client(instance, offered);
        while !client.is_null() {
            count += 1;
            client = (*client).next;
        }
    }
    count
}

/// An offered slot's instance, and its description.
///
/// # Safety
/// The slot is linked.
pub unsafe fn description(slot: *mut OfferedSlot) -> (*mut Instance, &'static Offered) {
    // SAFETY: the slot is part of its owner.
    unsafe {
        let instance = owner(slot);
        (instance, offered_at(instance, slot))
    }
}

/// An offered slot's description.
///
/// # Safety
/// The instance's block is there, and the slot is part of it.
pub unsafe fn offered_at(instance: *mut Instance, slot: *mut OfferedSlot) -> &'static Offered {
    let offset = slot.addr() - instance.addr();
    // SAFETY: the template describes all of an instance's slots.
    unsafe {
        let offered = (*template_of(instance)).offered.get();
        offered.iter().find(|o| o.offset as usize == offset).unwrap_unchecked()
    }
}

/// What serves the holder of a component in the end, if all of the chain is connected.
///
/// # Safety
/// The instance's block is there, and the slot is part of it.
pub unsafe fn resolve_held(instance: *mut Instance, slot: *mut OfferedSlot) -> Option<Server> {
    // SAFETY: where an interface leads inward, a linked slot begins.
    unsafe {
        let offered = offered_at(instance, slot);
        match offered.body {
            Offered::INWARD => resolve((*slot_at::<RequiredSlot>(instance, offered.inward)).target),
            _ => Some((instance, offered)),
        }
    }
}

/// What serves a slot in the end, if all of the chain is connected.
///
/// # Safety
/// The target is linked.
pub unsafe fn resolve(mut target: usize) -> Option<Server> {
    loop {
        // SAFETY: the target is linked, and so is the next target.
        target = unsafe {
            match decode(target) {
                Target::Nothing => return None,
                Target::PassedOn(slot) => (*slot).target,
                Target::Offered(slot) => {
                    let (instance, offered) = description(slot);
                    if offered.body != Offered::INWARD {
                        return Some((instance, offered));
                    }
                    (*slot_at::<RequiredSlot>(instance, offered.inward)).target
                }
            }
        };
    }
}

/// The slot that leads on from a target; null where nothing is connected, or an implementation.
///
/// # Safety
/// The target is linked.
pub unsafe fn slot_behind(target: usize) -> *mut RequiredSlot {
    match decode(target) {
        Target::Nothing => null_mut(),
        Target::PassedOn(slot) => slot,
        Target::Offered(slot) => {
            // SAFETY: the slot is linked.
            let (instance, offered) = unsafe { description(slot) };
            match offered.body {
                // SAFETY: a slot begins there.
                Offered::INWARD => unsafe { slot_at(instance, offered.inward) },
                _ => null_mut(),
            }
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

/// Where a slot leads if this is its target. Goes on from the target and back from the slot by turns, so that a long
/// chain costs nothing at either of its ends.
///
/// # Safety
/// Slot and target are linked.
pub unsafe fn way(w: *mut Worker, slot: *mut RequiredSlot, target: usize) -> Way {
    let mut last = target;
    // SAFETY: the targets of links are linked.
    unsafe {
        let first = slot_behind(target);
        let mut ahead = first;
        let mut before = Before { slots: Vec::new(), next: slot };
        // A team that is lent doesn't look further than to its own ways out.
        while !ahead.is_null() && (is_home(w) || !is_way_out(w, ahead)) {
            match before.next() {
                None => return Way::Somewhere,
                Some(found) if found == first || ahead == slot => return Way::Cycle,
                Some(_) => {
                    last = (*ahead).target;
                    ahead = slot_behind(last);
                }
            }
        }
    }
    if matches!(decode(last), Target::Nothing) { Way::Nowhere } else { Way::Somewhere }
}

/// The component to whose offered interface a slot is connected directly, or through what BY has put there; null if
/// there is none.
///
/// # Safety
/// The slot is linked.
pub unsafe fn direct_server(slot: *mut RequiredSlot) -> *mut Instance {
    // SAFETY: the slot's target is linked, and so is the target behind a proxy.
    unsafe {
        match decode((*slot).target) {
            Target::Offered(offered) => match behind(owner(offered)) {
                behind if behind.is_null() => owner(offered),
                behind => direct_server(behind),
            },
            _ => null_mut(),
        }
    }
}

/// Puts a slot, which is unconnected, into its target's list.
///
/// # Safety
/// At home; slot and target are linked.
pub unsafe fn link(slot: *mut RequiredSlot, target: usize) {
    // SAFETY: slot and target are linked, and so is the first in the list.
    unsafe {
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

/// The slots from which the way to a server leads over a slot: itself, and all slots behind it, to which it is passed
/// on.
struct Before {
    slots: Vec<*mut RequiredSlot>,
    /// The next, or null.
    next: *mut RequiredSlot,
}

impl Before {
    /// One more; those that lead to it come later.
    ///
    /// # Safety
    /// The slot that it began with is linked still.
    unsafe fn next(&mut self) -> Option<*mut RequiredSlot> {
        let slot = if self.next.is_null() { self.slots.pop()? } else { self.next };
        self.next = null_mut();
        // SAFETY: the slot and its clients are linked.
        unsafe {
            self.push((*slot).clients);
            if let Some(offered) = inward_of(slot) {
                self.push(first_client((*slot).instance, offered));
            }
        }
        Some(slot)
    }

    /// A list of clients comes later.
    ///
    /// # Safety
    /// They are linked.
    unsafe fn push(&mut self, mut client: *mut RequiredSlot) {
        while !client.is_null() {
            // One, the usual number, needs no memory.
            if self.next.is_null() {
                self.next = client;
            } else {
                self.slots.push(client);
            }
            // SAFETY: the client is linked.
            client = unsafe { (*client).next };
        }
    }
}

/// The offered interface that a slot leads inward, if it is such a slot.
///
/// # Safety
/// The slot is linked.
pub unsafe fn inward_of(slot: *mut RequiredSlot) -> Option<&'static Offered> {
    // SAFETY: the block of a linked slot's instance is there, and slots begin where its template says.
    unsafe {
        let instance = (*slot).instance;
        let offered = (*template_of(instance)).offered.get();
        offered.iter().find(|o| o.body == Offered::INWARD && slot_at(instance, o.inward) == slot)
    }
}

/// Whether a slot is one by which a lent team reaches the outside.
///
/// # Safety
/// `w` runs a lent team; the slot is linked, and in the team.
pub unsafe fn is_way_out(w: *mut Worker, slot: *mut RequiredSlot) -> bool {
    // SAFETY: as this demands.
    unsafe { (*slot).instance == (*team(w)).root() && inward_of(slot).is_none() }
}

/// Calls `each` for all communications, begun or not, that go through a required slot: its own, and those of all slots
/// behind it, to which it is passed on.
///
/// # Safety
/// The slot is linked; `each` changes no links.
pub unsafe fn leaves_through(slot: *mut RequiredSlot, mut each: impl FnMut(Leaf)) {
    let mut before = Before { slots: Vec::new(), next: slot };
    // SAFETY: the targets of links are linked.
    unsafe {
        while let Some(slot) = before.next() {
            leaves_of(slot, &mut each);
        }
    }
}

/// The same; but if the slot leads nowhere, its own communications only: those that slots behind it still have don't go
/// through it.
///
/// # Safety
/// As for [`leaves_through`].
pub unsafe fn leaves_served_through(w: *mut Worker, slot: *mut RequiredSlot, mut each: impl FnMut(Leaf)) {
    // SAFETY: the slot and its target are linked.
    unsafe {
        let is_end = (*slot).clients.is_null() && inward_of(slot).is_none();
        if is_end || way(w, slot, (*slot).target) == Way::Nowhere {
            return leaves_of(slot, &mut each);
        }
        leaves_through(slot, each);
    }
}

/// Calls `each` for the communications that begin at a slot.
///
/// # Safety
/// As for [`leaves_through`].
unsafe fn leaves_of(slot: *mut RequiredSlot, each: &mut impl FnMut(Leaf)) {
    // SAFETY: the slot is linked, and its instance's template says where the offered one is.
    unsafe {
        let client = (*slot).instance;
        each(Leaf { cell: &raw mut (*slot).communication, slot, client });
        if let Some(offered) = inward_of(slot) {
            let from = slot_at::<OfferedSlot>(client, offered.offset);
            each(Leaf { cell: &raw mut (*from).holder, slot: null_mut(), client });
        }
    }
}
