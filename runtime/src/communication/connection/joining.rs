//! Connects a slot to a target, and takes it from there again. Where an interface has room for few clients, slots that
//! wait for one of its names follow as clients go.

use alloc::vec::Vec;
use core::ptr::null_mut;

use drystone_component::Offered;

use super::waiting::{tell_main, wake_holder, wake_instance};
use super::ways::{Target, Way, decode, description, first_client, is_tagged, leaves_through, link, way};
use crate::communication::make_gone;
use crate::failure::record;
use crate::home::names::Waiting;
use crate::home::{home, names_of_home};
use crate::instance::delete_kept;
use crate::layout::*;
use crate::worker::Failure;

/// How an attempt to connect has ended.
pub enum Joined {
    /// Connected.
    Done,
    /// The interface has as many clients as it may have.
    Full,
    /// It is an error.
    Failed(Fault),
}

/// Connects a slot that is unconnected, if the target has room for one more.
///
/// # Safety
/// At home; slot and target are linked, and of the same interface.
pub unsafe fn join(w: *mut Worker, slot: *mut RequiredSlot, target: usize) -> Joined {
    // SAFETY: slot and target are linked, so the blocks of their instances are there.
    unsafe {
        if (*(*slot).instance).live & DEAD != 0 {
            // Its container counts as empty, but that is no error of its clients.
            return Joined::Done;
        }
        if let Target::Offered(to) = decode(target) {
            let (instance, offered) = description(to);
            if (*instance).live & DEAD != 0 {
                let gone = make_gone(w, &*offered.interface);
                if gone.is_null() {
                    return Joined::Failed(Fault::OutOfMemory);
                }
                (*slot).communication = gone;
                return Joined::Done;
            }
            if offered.limit != u32::MAX && has_all_clients(instance, offered) {
                return Joined::Full;
            }
        }
        match way(w, slot, target) {
            Way::Cycle => return Joined::Failed(Fault::ConnectionCycle),
            // Processes that wait behind the slot wait on.
            Way::Nowhere => {
                link(slot, target);
                wake_instance(w, (*slot).instance);
                tell_main(w, (*slot).instance);
            }
            Way::Somewhere => lead(w, slot, target),
        }
    }
    Joined::Done
}

/// Connects a slot that is unconnected, and wakes the processes that wait for that.
///
/// # Safety
/// At home; slot and target are linked, of the same interface, and the target doesn't lead to the slot.
pub unsafe fn lead(w: *mut Worker, slot: *mut RequiredSlot, target: usize) {
    // SAFETY: slot and target are linked.
    unsafe {
        link(slot, target);
        wake_through(w, slot);
        tell_main(w, (*slot).instance);
    }
}

/// Whether an interface has as many clients as it may have.
///
/// # Safety
/// The instance's block is there, and it offers this.
unsafe fn has_all_clients(instance: *mut Instance, offered: &Offered) -> bool {
    // SAFETY: clients are linked.
    unsafe {
        let mut client = first_client(instance, offered);
        for _ in 0..offered.limit {
            if client.is_null() {
                return false;
            }
            client = (*client).next;
        }
    }
    true
}

/// A slot leads somewhere else: wakes the processes that wait to talk through it.
///
/// # Safety
/// At home; the slot is linked.
pub unsafe fn wake_through(w: *mut Worker, slot: *mut RequiredSlot) {
    // SAFETY: the instances of linked slots are there.
    unsafe {
        leaves_through(slot, |leaf| {
            if leaf.slot.is_null() {
                wake_holder(w, leaf.client);
            } else {
                wake_instance(w, leaf.client);
                // Far clients, too, may have waited until this leads somewhere.
                tell_main(w, leaf.client);
            }
        });
    }
}

/// Takes a slot out of its target's list.
///
/// # Safety
/// At home; the slot is linked.
pub unsafe fn unlink(w: *mut Worker, slot: *mut RequiredSlot) {
    // SAFETY: the target and the neighbours in its list are linked, and `owner` is asked while the list is whole.
    unsafe {
        let RequiredSlot { target, next, previous, .. } = *slot;
        let mut is_limited = false;
        let is_last = next.is_null() && (previous.is_null() || is_tagged(previous));
        let first = match decode(target) {
            Target::Nothing => return,
            Target::PassedOn(to) => {
                if is_last {
                    tell_main(w, (*to).instance);
                }
                &raw mut (*to).clients
            }
            Target::Offered(to) => {
                let (instance, offered) = description(to);
                is_limited = offered.limit != u32::MAX;
                if is_limited {
                    one_less(w, instance, offered, is_last);
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
        if is_limited {
            next_by_name(w, target);
        }
    }
}

/// An interface whose clients are limited is about to lose one.
///
/// # Safety
/// At home; the instance's block is there, and it offers this.
unsafe fn one_less(w: *mut Worker, instance: *mut Instance, offered: &Offered, was_last: bool) {
    // SAFETY: the instance's block is there; a binding is alive, and held by nobody.
    unsafe {
        if offered.limit != Offered::BINDING {
            wake_holder(w, instance);
        } else if was_last {
            delete_kept(w, instance);
        }
    }
}

/// Connects the slots that wait for a name, as long as there is room for them.
///
/// # Errors
/// The first that can't be connected, and why; those after it still wait.
///
/// # Safety
/// At home; the target is linked, and of the name's interface.
pub unsafe fn connect_waiting(w: *mut Worker, target: usize, name: &[u8]) -> Result<(), (Waiting, Fault)> {
    // SAFETY: slots that wait are linked, for instances that go forget their names; `names` is not in use meanwhile.
    unsafe {
        let all: Vec<Waiting> = (*home(w)).names.waiting(name).copied().collect();
        for waiting in all {
            match join(w, waiting.slot, target) {
                Joined::Full => return Ok(()),
                Joined::Done => (*home(w)).names.cease(waiting.slot),
                Joined::Failed(fault) => {
                    (*home(w)).names.cease(waiting.slot);
                    return Err((waiting, fault));
                }
            }
        }
    }
    Ok(())
}

/// An interface with few clients has lost one: the slots that wait for one of its names come next.
///
/// # Safety
/// At home; the target is linked.
unsafe fn next_by_name(w: *mut Worker, target: usize) {
    // SAFETY: the caller promises that this is at home, and that the target is linked; slots that wait are linked.
    unsafe {
        let names = match names_of_home(w) {
            Some(names) if !names.is_empty() => names.names_of(target),
            _ => return,
        };
        for name in names {
            if let Err((waiting, fault)) = connect_waiting(w, target, &name) {
                record(w, Failure::of_end((*waiting.slot).instance, fault, waiting.location));
            }
        }
    }
}
