//! Connections close, with the communications that go through them.

use core::mem::replace;
use core::ptr::null_mut;

use drystone_component::Offered;

use super::joining::unlink;
use super::waiting::tell_disconnected;
use super::ways::{first_client, leaves_served_through, leaves_through};
use crate::communication::{close, detach, lose_client, may_close};
use crate::instance::slots::interfaces_of;
use crate::instance::{slot_at, template_of};
use crate::layout::*;

/// A communication through one of the component's slots that may not end now; null if all may.
///
/// # Safety
/// At home; the instance's block is there.
pub unsafe fn unfinished_of(w: *mut Worker, instance: *mut Instance) -> *mut Communication {
    let mut found = null_mut();
    // SAFETY: an instance's slots are linked while its block is there.
    unsafe {
        interfaces_of(instance, |slot, _| {
            let c = unfinished_through(w, slot);
            if !c.is_null() {
                found = c;
            }
        });
    }
    found
}

/// A communication through a slot that may not end now; null if all may.
///
/// # Safety
/// At home; the slot is linked.
pub unsafe fn unfinished_through(w: *mut Worker, slot: *mut RequiredSlot) -> *mut Communication {
    let mut found = null_mut();
    // SAFETY: a communication that a linked slot leads to is live.
    unsafe {
        leaves_served_through(w, slot, |leaf| {
            let c = *leaf.cell;
            if !c.is_null() && !may_close(c) {
                found = c;
            }
        });
    }
    found
}

/// Closes all communications through a slot.
///
/// # Safety
/// At home; the slot is linked, and no process uses one of these communications afterwards.
pub unsafe fn close_all_through(w: *mut Worker, slot: *mut RequiredSlot) {
    // SAFETY: nothing leads to a communication through here when its cell is empty.
    unsafe { leaves_served_through(w, slot, |leaf| close_leaf(w, leaf.cell)) }
}

/// Closes a client's communication, if there is one.
///
/// # Safety
/// At home; the cell is a slot's, and no process uses its communication afterwards.
#[inline]
pub unsafe fn close_leaf(w: *mut Worker, cell: *mut *mut Communication) {
    // SAFETY: the cell holds null or a live communication, of which it is the client's end.
    unsafe {
        let c = replace(&mut *cell, null_mut());
        if !c.is_null() {
            close(w, c);
        }
    }
}

/// An offered slot's instance goes: its clients become unconnected. Their services have ended; what those have sent
/// last can still be read.
///
/// # Safety
/// At home; the instance's block is there, and it offers this.
pub unsafe fn release_clients(w: *mut Worker, instance: *mut Instance, offered: &Offered) {
    // SAFETY: clients are linked, and their communications live.
    unsafe {
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
                    detach(w, c, leaf.slot);
                }
            });
            unlink(w, client);
            tell_disconnected(w, client);
        }
    }
}

/// A communication of the holder with a component that may not end now; null if all may.
///
/// # Safety
/// At home; the instance's block is there.
pub unsafe fn unfinished_with_holder(instance: *mut Instance) -> *mut Communication {
    // SAFETY: the template says where the slots are; the communications to which they lead are live.
    unsafe {
        let offered = (*template_of(instance)).offered.get().iter();
        let mut held = offered.map(|offered| *holders_end(instance, offered));
        held.find(|&c| !c.is_null() && !may_close(c)).unwrap_or(null_mut())
    }
}

/// Closes the holder's own communications with a component, which may end.
///
/// # Safety
/// At home; the instance's block is there, and no process uses one of these communications afterwards.
pub unsafe fn close_holders_end(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: the template says where the slots are.
    unsafe {
        for offered in (*template_of(instance)).offered.get() {
            close_leaf(w, holders_end(instance, offered));
        }
    }
}

/// The holder of a component is gone, wherever it is in what it says to it.
///
/// # Safety
/// At home; the instance's block is there.
pub unsafe fn lose_holders_end(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: the template says where the slots are; nothing else leads to a holder's communication.
    unsafe {
        for offered in (*template_of(instance)).offered.get() {
            let c = replace(&mut *holders_end(instance, offered), null_mut());
            if !c.is_null() {
                lose_client(w, c);
            }
        }
    }
}

/// Where an instance keeps its holder's communication by one of the interfaces that it offers.
///
/// # Safety
/// The instance's block is there, and it offers this.
unsafe fn holders_end(instance: *mut Instance, offered: &Offered) -> *mut *mut Communication {
    // SAFETY: an offered slot begins there.
    unsafe { &raw mut (*slot_at::<OfferedSlot>(instance, offered.offset)).holder }
}
