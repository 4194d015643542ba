//! Connections: which required interface is served by which offered one, through any number of relays.
//!
//! A required slot points at its target; targets know who is connected to them, so that both ends can be undone. An
//! offered slot's list of clients also says whose slot it is: where the list has no first, or the first has no
//! previous, stands the instance with bit 0 set.
//!
//! # Why this is sound
//! Slots are parts of live instances, which undo all their connections before they are freed (the deletion and
//! fault modules). The links between slots lead only to slots that are connected now.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::vec::Vec;
use core::ptr::{self, null, null_mut};

use drystone_component::{Interface, Offered, Required};

use super::{close, ds_input, make_gone, may_close};
use crate::failure::{ds_fail, violation};
use crate::instance::{holder_of, rare_if_any, rare_of, slot_at, template_of};
use crate::layout::*;
use crate::process::start_service;
use crate::queue::{Queue, ready_all};
use crate::worker::heap_of;

fn tag<T>(instance: *mut Instance) -> *mut T {
    instance.map_addr(|address| address | 1).cast()
}

fn is_tagged<T>(pointer: *mut T) -> bool {
    pointer.addr() & 1 != 0
}

fn untag<T, U>(pointer: *mut T) -> *mut U {
    pointer.map_addr(|address| address & !1).cast()
}

/// A slot's target, as its pointer.
enum Target {
    Nothing,
    Offered(*mut OfferedSlot),
    PassedOn(*mut RequiredSlot),
}

fn decode(target: usize) -> Target {
    match target {
        0 => Target::Nothing,
        t if t & 1 != 0 => Target::PassedOn(ptr::with_exposed_provenance_mut(t & !1)),
        t => Target::Offered(ptr::with_exposed_provenance_mut(t)),
    }
}

/// A component and which of the interfaces that it implements.
type Server = (*mut Instance, &'static Offered);

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

/// An offered slot that something can be connected to.
unsafe fn description(slot: *mut OfferedSlot) -> (*mut Instance, &'static Offered) {
    let instance = owner(slot);
    (instance, offered_at(instance, slot))
}

unsafe fn offered_at(instance: *mut Instance, slot: *mut OfferedSlot) -> &'static Offered {
    let offered = (*template_of(instance)).offered.get();
    let offset = slot.addr() - instance.addr();
    offered.iter().find(|o| o.offset as usize == offset).unwrap_unchecked()
}

/// What serves the holder of a component in the end, if all of the chain is connected.
unsafe fn resolve_held(instance: *mut Instance, slot: *mut OfferedSlot) -> Option<Server> {
    let offered = offered_at(instance, slot);
    match offered.body {
        Offered::INWARD => resolve((*slot_at::<RequiredSlot>(instance, offered.inward)).target),
        _ => Some((instance, offered)),
    }
}

/// What serves a slot in the end, if all of the chain is connected.
unsafe fn resolve(mut target: usize) -> Option<Server> {
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
unsafe fn slot_behind(target: usize) -> *mut RequiredSlot {
    match decode(target) {
        Target::Nothing => null_mut(),
        Target::PassedOn(slot) => slot,
        Target::Offered(slot) => {
            let (instance, offered) = description(slot);
            if offered.body == Offered::INWARD { slot_at(instance, offered.inward) } else { null_mut() }
        }
    }
}

/// Whether connecting a slot so would close a cycle: the target leads to the slot already. Goes on from the target and
/// back from the slot by turns, so that a long chain costs nothing at either of its ends.
unsafe fn closes_cycle(slot: *mut RequiredSlot, target: usize) -> bool {
    let first = slot_behind(target);
    let mut ahead = first;
    let mut before = Before { slots: Vec::new(), next: slot };
    loop {
        if ahead.is_null() {
            return false;
        }
        match before.next() {
            None => return false,
            Some(found) if found == first || ahead == slot => return true,
            Some(_) => ahead = slot_behind((*ahead).target),
        }
    }
}

/// The sibling-to-be-asked: whose offered slot it is that a slot is connected to directly.
pub unsafe fn direct_server(slot: *mut RequiredSlot) -> *mut Instance {
    match decode((*slot).target) {
        Target::Offered(offered) => owner(offered),
        _ => null_mut(),
    }
}

/// The offered slot of a component for an interface, or null.
pub unsafe fn find_offered(instance: *mut Instance, interface: *const Interface) -> *mut OfferedSlot {
    for offered in (*template_of(instance)).offered.get() {
        if ptr::eq(offered.interface, interface) {
            return slot_at(instance, offered.offset);
        }
    }
    null_mut()
}

/// The offered slot of a component in an ANY container.
///
/// # Safety
/// `p` runs on `w`, the home worker; `instance` is null or its block is still there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_find_offered(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    interface: *const Interface,
    place: u32,
) -> *mut OfferedSlot {
    if instance.is_null() {
        ds_fail(w, p, Fault::EmptyContainer as u32, place);
        return null_mut();
    }
    let slot = find_offered(instance, interface);
    if slot.is_null() {
        ds_fail(w, p, Fault::WrongType as u32, place);
    }
    slot
}

impl SlotTable {
    fn bytes(length: usize) -> usize {
        8 + 8 * length
    }

    unsafe fn entry(table: *mut SlotTable, index: usize) -> *mut *mut RequiredSlot {
        table.cast::<*mut RequiredSlot>().add(1 + index)
    }
}

/// The required slots that a component has now, inward connections not among them.
pub unsafe fn required_slots(instance: *mut Instance, mut each: impl FnMut(*mut RequiredSlot)) {
    for required in (*template_of(instance)).required.get() {
        slots_of(instance, required, &mut each);
    }
}

unsafe fn slots_of(instance: *mut Instance, required: &Required, each: &mut dyn FnMut(*mut RequiredSlot)) {
    if required.slots == 0 {
        return each(slot_at(instance, required.offset));
    }
    let table = *slot_at::<*mut SlotTable>(instance, required.offset);
    if !table.is_null() {
        for index in 0..(*table).length {
            let slot = *SlotTable::entry(table, index);
            if !slot.is_null() {
                each(slot);
            }
        }
    }
}

/// The slots that lead inward.
pub unsafe fn inward_slots(instance: *mut Instance, mut each: impl FnMut(*mut RequiredSlot)) {
    for offered in (*template_of(instance)).offered.get() {
        if offered.body == Offered::INWARD {
            each(slot_at(instance, offered.inward));
        }
    }
}

/// Frees the tables of required interfaces with a cardinality.
pub unsafe fn free_tables(w: *mut Worker, instance: *mut Instance) {
    for required in (*template_of(instance)).required.get().iter().filter(|r| r.slots != 0) {
        slots_of(instance, required, &mut |slot| (*heap_of(w)).free(slot.cast(), size_of::<RequiredSlot>()));
        let cell = slot_at::<*mut SlotTable>(instance, required.offset);
        if !(*cell).is_null() {
            (*heap_of(w)).free((*cell).cast(), SlotTable::bytes((**cell).length));
            *cell = null_mut();
        }
    }
}

/// The required slot of a component for an interface.
///
/// # Safety
/// `p` runs on `w`, the home worker; `instance` is null or its block is still there. Both may be null only where
/// nothing can fail.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_find_required(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    interface: *const Interface,
    k: i64,
    place: u32,
) -> *mut RequiredSlot {
    let fail = |fault: Fault| {
        ds_fail(w, p, fault as u32, place);
        null_mut()
    };
    if instance.is_null() {
        return fail(Fault::EmptyContainer);
    }
    let mut all = (*template_of(instance)).required.get().iter();
    let Some(required) = all.find(|r| ptr::eq(r.interface, interface)) else {
        return fail(Fault::WrongType);
    };
    if required.slots == 0 {
        return if k == 1 { slot_at(instance, required.offset) } else { fail(Fault::IndexOutOfBounds) };
    }
    if k < 1 || k > required.slots as i64 {
        return fail(Fault::IndexOutOfBounds);
    }
    indexed_slot(w, instance, required, k as usize - 1).unwrap_or_else(|| fail(Fault::OutOfMemory))
}

unsafe fn indexed_slot(
    w: *mut Worker,
    instance: *mut Instance,
    required: &Required,
    index: usize,
) -> Option<*mut RequiredSlot> {
    let cell = slot_at::<*mut SlotTable>(instance, required.offset);
    let old = if (*cell).is_null() { 0 } else { (**cell).length };
    if index >= old {
        let length = (index + 1).max(2 * old).min(required.slots as usize);
        let table = (*heap_of(w)).allocate_zeroed(SlotTable::bytes(length)) as *mut SlotTable;
        if table.is_null() {
            return None;
        }
        if old != 0 {
            ptr::copy_nonoverlapping(SlotTable::entry(*cell, 0), SlotTable::entry(table, 0), old);
            (*heap_of(w)).free((*cell).cast(), SlotTable::bytes(old));
        }
        (*table).length = length;
        *cell = table;
    }
    let entry = SlotTable::entry(*cell, index);
    if (*entry).is_null() {
        let slot = (*heap_of(w)).allocate_zeroed(size_of::<RequiredSlot>()) as *mut RequiredSlot;
        if slot.is_null() {
            return None;
        }
        (*slot).instance = instance;
        *entry = slot;
    }
    Some(*entry)
}

/// `COUNT(required)`
///
/// # Safety
/// On the home worker's thread; `instance` is alive, and its template has that required interface.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_count(_w: *mut Worker, instance: *mut Instance, required: u32) -> i64 {
    let mut count = 0;
    slots_of(instance, &(*template_of(instance)).required.get()[required as usize], &mut |slot| {
        count += ((*slot).target != 0) as i64;
    });
    count
}

unsafe fn link(slot: *mut RequiredSlot, target: usize) {
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

/// Takes a slot out of its target's list.
pub unsafe fn unlink(w: *mut Worker, slot: *mut RequiredSlot) {
    let RequiredSlot { target, next, previous, .. } = *slot;
    let first = match decode(target) {
        Target::Nothing => return,
        Target::PassedOn(to) => &raw mut (*to).clients,
        Target::Offered(to) => {
            let (instance, offered) = description(to);
            if offered.limit != u32::MAX {
                wake_holder(w, instance);
            }
            &raw mut (*to).clients
        }
    };
    if !next.is_null() {
        (*next).previous = previous;
    }
    if *first == slot {
        // An offered slot's last client leaves its owner's mark behind.
        *first = if next.is_null() { previous } else { next };
    } else {
        (*previous).next = next;
    }
    (*slot).target = 0;
    (*slot).next = null_mut();
    (*slot).previous = null_mut();
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
struct Before {
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
unsafe fn inward_of(slot: *mut RequiredSlot) -> Option<&'static Offered> {
    let instance = (*slot).instance;
    let offered = (*template_of(instance)).offered.get();
    offered.iter().find(|o| o.body == Offered::INWARD && slot_at(instance, o.inward) == slot)
}

/// Calls `each` for all communications, begun or not, that go through a required slot: its own and those of
/// everyone to whom it is passed on.
pub unsafe fn leaves_through(slot: *mut RequiredSlot, mut each: impl FnMut(Leaf)) {
    let mut before = Before { slots: Vec::new(), next: slot };
    while let Some(slot) = before.next() {
        let client = (*slot).instance;
        each(Leaf { cell: &raw mut (*slot).communication, slot, client });
        if let Some(offered) = inward_of(slot) {
            let from = slot_at::<OfferedSlot>(client, offered.offset);
            each(Leaf { cell: &raw mut (*from).holder, slot: null_mut(), client });
        }
    }
}

/// A process waits until something about its component's connections changes.
pub unsafe fn wait(_w: *mut Worker, p: *mut Process) {
    (*p).status = CONNECTION;
    (*rare_of((*p).instance)).connecting.push(p);
}

unsafe fn wake_instance(w: *mut Worker, instance: *mut Instance) {
    let rare = rare_if_any(instance);
    if !rare.is_null() && !(*rare).connecting.is_empty() {
        ready_all(w, &mut core::mem::replace(&mut (*rare).connecting, Queue::EMPTY));
    }
}

/// Wakes those of the component that holds `instance` who wait to connect to it.
unsafe fn wake_holder(w: *mut Worker, instance: *mut Instance) {
    let holder = holder_of(instance);
    if !holder.is_null() {
        wake_instance(w, holder);
    }
}

/// `CONNECT`
///
/// # Safety
/// `p` runs on `w`, the home worker; `slot` is of a live or dead instance whose block is still there, and `target`
/// that of an offered or required slot of one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_connect(
    w: *mut Worker,
    p: *mut Process,
    slot: *mut RequiredSlot,
    target: usize,
    place: u32,
) -> Status {
    if ds_disconnect(w, p, slot, place) == Status::Leave {
        return Status::Leave;
    }
    if (*(*slot).instance).live & DEAD != 0 {
        // Its container counts as empty, but that is no error of those who talk to it.
        return Status::Done;
    }
    if let Target::Offered(to) = decode(target) {
        let (instance, offered) = description(to);
        if (*instance).live & DEAD != 0 {
            let gone = make_gone(w, &*offered.interface);
            if gone.is_null() {
                ds_fail(w, p, Fault::OutOfMemory as u32, place);
                return Status::Leave;
            }
            (*slot).communication = gone;
            return Status::Done;
        }
        if offered.limit != u32::MAX && has_clients(instance, offered) {
            wait(w, p);
            return Status::Leave;
        }
    }
    if closes_cycle(slot, target) {
        ds_fail(w, p, Fault::ConnectionCycle as u32, place);
        return Status::Leave;
    }
    link(slot, target);
    wake_through(w, slot);
    Status::Done
}

/// Whether no more may be connected.
unsafe fn has_clients(instance: *mut Instance, offered: &Offered) -> bool {
    let mut client = first_client(instance, offered);
    for _ in 0..offered.limit {
        if client.is_null() {
            return false;
        }
        client = (*client).next;
    }
    true
}

unsafe fn wake_through(w: *mut Worker, slot: *mut RequiredSlot) {
    leaves_through(slot, |leaf| {
        if leaf.slot.is_null() {
            wake_holder(w, leaf.client);
        } else {
            wake_instance(w, leaf.client);
        }
    });
}

/// `DISCONNECT`
///
/// # Safety
/// `p` runs on `w`, the home worker; `slot` is of an instance whose block is still there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_disconnect(
    w: *mut Worker,
    p: *mut Process,
    slot: *mut RequiredSlot,
    place: u32,
) -> Status {
    if (*slot).target == 0 && (*slot).communication.is_null() {
        return Status::Done;
    }
    if !may_close_through(slot) {
        violation(w, p, interface_of_slot(slot), place);
        return Status::Leave;
    }
    close_all_through(w, slot);
    unlink(w, slot);
    Status::Done
}

/// The interface of a slot; null if it is none of its instance's any more.
unsafe fn interface_of_slot(slot: *mut RequiredSlot) -> *const Interface {
    let mut found = null();
    interfaces_of((*slot).instance, |of, interface| {
        if of == slot {
            found = interface;
        }
    });
    found
}

/// Calls `each` for all slots of a component, inward ones too, with their interfaces.
unsafe fn interfaces_of(instance: *mut Instance, mut each: impl FnMut(*mut RequiredSlot, *const Interface)) {
    let template = &*template_of(instance);
    for required in template.required.get() {
        slots_of(instance, required, &mut |slot| each(slot, required.interface));
    }
    for offered in template.offered.get().iter().filter(|offered| offered.body == Offered::INWARD) {
        each(slot_at(instance, offered.inward), offered.interface);
    }
}

/// The interface of a communication through one of the component's slots that may not end now; null if all may.
pub unsafe fn unfinished(instance: *mut Instance) -> *const Interface {
    let mut found = null();
    interfaces_of(instance, |slot, interface| {
        if !may_close_through(slot) {
            found = interface;
        }
    });
    found
}

/// Whether the protocols of all communications through a slot may end now.
pub unsafe fn may_close_through(slot: *mut RequiredSlot) -> bool {
    let mut allowed = true;
    leaves_through(slot, |leaf| allowed &= (*leaf.cell).is_null() || may_close(*leaf.cell));
    allowed
}

/// Closes all communications through a slot.
pub unsafe fn close_all_through(w: *mut Worker, slot: *mut RequiredSlot) {
    leaves_through(slot, |leaf| close_leaf(w, leaf.cell));
}

/// Lets go of a communication.
#[inline]
pub unsafe fn close_leaf(w: *mut Worker, cell: *mut *mut Communication) {
    let c = core::mem::replace(&mut *cell, null_mut());
    if !c.is_null() {
        close(w, c);
    }
}

/// The communication of a required interface, when it is connected; null: leave.
///
/// # Safety
/// `p` runs on `w`, the home worker; `slot` is of its component or of one that is passed on, and has this
/// interface.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_reach(
    w: *mut Worker,
    p: *mut Process,
    slot: *mut RequiredSlot,
    _interface: &Interface,
    place: u32,
) -> *mut Communication {
    if !(*slot).communication.is_null() {
        return (*slot).communication;
    }
    let c = reach(w, p, resolve((*slot).target), place);
    (*slot).communication = c;
    c
}

unsafe fn reach(w: *mut Worker, p: *mut Process, server: Option<Server>, place: u32) -> *mut Communication {
    match server {
        Some((instance, offered)) if (*instance).live & CLOSED == 0 => {
            let c = start_service(w, instance, offered.body);
            if c.is_null() {
                ds_fail(w, p, Fault::OutOfMemory as u32, place);
            }
            c
        }
        _ => {
            wait(w, p);
            null_mut()
        }
    }
}

/// The holder's communication with a component, when it is connected; null: leave.
///
/// # Safety
/// `p` runs on `w`, the home worker and belongs to the holder of `instance`, dead or alive, whose offered slot for
/// this interface `slot` is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_reach_held(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    slot: *mut OfferedSlot,
    interface: &Interface,
    place: u32,
) -> *mut Communication {
    if !(*slot).holder.is_null() {
        return (*slot).holder;
    }
    if (*instance).live & DEAD != 0 {
        let gone = make_gone(w, interface);
        if gone.is_null() {
            ds_fail(w, p, Fault::OutOfMemory as u32, place);
        }
        (*slot).holder = gone;
        return gone;
    }
    let c = reach(w, p, resolve_held(instance, slot), place);
    (*slot).holder = c;
    c
}

/// `INPUT` at a required interface.
///
/// # Safety
/// As for [`ds_reach`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_input_slot(
    w: *mut Worker,
    p: *mut Process,
    slot: *mut RequiredSlot,
    interface: &Interface,
    pattern: i32,
    place: u32,
) -> u32 {
    if (*slot).communication.is_null() && !is_open(resolve((*slot).target)) {
        return 0;
    }
    let c = ds_reach(w, p, slot, interface, place);
    if c.is_null() { 2 } else { ds_input(w, p, c, interface, 0, pattern) }
}

/// `INPUT` at a component that is held.
///
/// # Safety
/// As for [`ds_reach_held`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_input_held(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    slot: *mut OfferedSlot,
    interface: &Interface,
    pattern: i32,
    place: u32,
) -> u32 {
    if (*slot).holder.is_null() && (*instance).live & DEAD == 0 && !is_open(resolve_held(instance, slot)) {
        return 0;
    }
    let c = ds_reach_held(w, p, instance, slot, interface, place);
    if c.is_null() { 2 } else { ds_input(w, p, c, interface, 0, pattern) }
}

/// Whether a communication could begin at once.
unsafe fn is_open(server: Option<Server>) -> bool {
    server.is_some_and(|(instance, _)| (*instance).live & CLOSED == 0)
}

/// An offered slot's instance goes: its clients become unconnected. Their services have ended; what those have sent
/// last can still be read.
pub unsafe fn release_clients(w: *mut Worker, instance: *mut Instance, offered: &Offered) {
    loop {
        let client = first_client(instance, offered);
        if client.is_null() {
            return;
        }
        leaves_through(client, |leaf| {
            let c = *leaf.cell;
            // Through a relay inward it may also be another component's communication, which that one ends.
            if c.is_null() || (*c).process.instance != instance {
                return;
            }
            if (*c).word.tag == 0 || leaf.slot.is_null() {
                close_leaf(w, leaf.cell);
            } else {
                super::detach(c, leaf.slot);
            }
        });
        unlink(w, client);
    }
}
