//! Connections close, with the communications that go through them.
//!
//! # Why this is sound
//! See the connection module.
#![allow(unsafe_op_in_unsafe_fn)]

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
pub unsafe fn unfinished_of(instance: *mut Instance) -> *mut Communication {
    let mut found = null_mut();
    interfaces_of(instance, |slot, _| {
        let c = unfinished_through(slot);
        if !c.is_null() {
            found = c;
        }
    });
    found
}

/// A communication through a slot that may not end now; null if all may.
pub unsafe fn unfinished_through(slot: *mut RequiredSlot) -> *mut Communication {
    let mut found = null_mut();
    leaves_served_through(slot, |leaf| {
        let c = *leaf.cell;
        if !c.is_null() && !may_close(c) {
            found = c;
        }
    });
    found
}

/// Closes all communications through a slot.
pub unsafe fn close_all_through(w: *mut Worker, slot: *mut RequiredSlot) {
    leaves_served_through(slot, |leaf| close_leaf(w, leaf.cell));
}

/// Lets go of a communication.
#[inline]
pub unsafe fn close_leaf(w: *mut Worker, cell: *mut *mut Communication) {
    let c = core::mem::replace(&mut *cell, null_mut());
    if !c.is_null() {
        close(w, c);
    }
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
                detach(w, c, leaf.slot);
            }
        });
        unlink(w, client);
        tell_disconnected(w, client);
    }
}

/// A communication of the holder with a component that may not end now; null if all may.
pub unsafe fn unfinished_with_holder(instance: *mut Instance) -> *mut Communication {
    let offered = (*template_of(instance)).offered.get().iter();
    let mut held =
        offered.map(|offered| unsafe { (*slot_at::<OfferedSlot>(instance, offered.offset)).holder });
    held.find(|&c| unsafe { !c.is_null() && !may_close(c) }).unwrap_or(null_mut())
}

/// Closes the holder's own communications with a component, which may end.
pub unsafe fn close_holders_end(w: *mut Worker, instance: *mut Instance) {
    for offered in (*template_of(instance)).offered.get() {
        close_leaf(w, &raw mut (*slot_at::<OfferedSlot>(instance, offered.offset)).holder);
    }
}

/// The holder of a component is gone, wherever it is in what it says to it.
pub unsafe fn lose_holders_end(w: *mut Worker, instance: *mut Instance) {
    for offered in (*template_of(instance)).offered.get() {
        let held = &raw mut (*slot_at::<OfferedSlot>(instance, offered.offset)).holder;
        let c = core::mem::replace(&mut *held, null_mut());
        if !c.is_null() {
            lose_client(w, c);
        }
    }
}
