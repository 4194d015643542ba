//! Clients that are to be bound to another server leave theirs where the protocol allows it: at once, if no
//! communication has begun or nothing is under way in it and they could only begin anew, else instead of the message by
//! which they do.
//!
//! # Why this is sound
//! See the communication module. A communication whose client is to leave is marked with [`LEAVES`] for as long as the
//! home knows where to, and its slot lives at least as long: it lets go of its communication before it goes.
#![allow(unsafe_op_in_unsafe_fn)]

use core::ptr::null_mut;

use super::close;
use super::connection::wake_through;
use crate::home::home;
use crate::home::leaving::{Change, Leaving, Pending};
use crate::instance::natives::recall;
use crate::layout::*;

/// The client at a slot is to leave.
pub unsafe fn begin(w: *mut Worker, slot: *mut RequiredSlot, change: Change) -> Pending {
    let c = (*slot).communication;
    if c.is_null() {
        change(w, Some(slot));
        return Pending::default();
    }
    forget(w, c);
    recall(w, c);
    (*c).word.flags |= LEAVES;
    let (leaving, pending) = Leaving::new(slot, change);
    (*home(w)).leaving.insert(c, leaving);
    pending
}

/// The slot of a client that has not left yet.
pub unsafe fn slot_of(w: *mut Worker, pending: &Pending) -> Option<*mut RequiredSlot> {
    (*home(w)).leaving.values().find(|leaving| leaving.is_for(pending)).map(|leaving| leaving.slot)
}

/// A client is to stay where it is, if it has not left yet; nobody is told.
///
/// # Safety
/// On the home worker's thread, with that worker.
pub unsafe fn withdraw(w: *mut Worker, pending: &Pending) {
    (*home(w)).leaving.retain(|&c, leaving| {
        let stays = leaving.is_for(pending);
        if stays {
            (*c).word.flags &= !LEAVES;
        }
        !stays
    });
}

/// The client of a communication leaves; it may.
pub unsafe fn leave(w: *mut Worker, c: *mut Communication) {
    (*c).word.flags &= !LEAVES;
    let Some(Leaving { slot, change, .. }) = (*home(w)).leaving.remove(&c) else { return };
    (*slot).communication = null_mut();
    close(w, c);
    change(w, Some(slot));
    wake_through(w, slot);
}

/// A communication has come to its end before its client left.
pub unsafe fn forget(w: *mut Worker, c: *mut Communication) {
    (*c).word.flags &= !LEAVES;
    if let Some(leaving) = (*home(w)).leaving.remove(&c) {
        (leaving.change)(w, None);
    }
}
