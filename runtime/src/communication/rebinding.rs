//! Clients that are to be bound to another server leave theirs where the protocol allows it: at once, if no communication
//! has begun or nothing is under way in it, else instead of the message by which they would begin anew.
//!
//! # Why this is sound
//! See the communication module. A communication whose client is to leave is marked with [`LEAVES`] for as long as the home
//! knows where to, and its slot lives at least as long: it lets go of its communication before it goes.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::boxed::Box;
use core::ptr::null_mut;

use super::close;
use super::connection::wake_through;
use crate::home::home;
use crate::layout::*;
use crate::process::recall;

/// Connects a slot, nothing of which is under way, to something else; or hears that the communication has ended before its
/// client could leave.
pub type Change = Box<dyn FnOnce(*mut Worker, Option<*mut RequiredSlot>)>;

/// A client that is to leave.
pub struct Leaving {
    slot: *mut RequiredSlot,
    change: Change,
}

/// The client at a slot is to leave.
pub unsafe fn begin(w: *mut Worker, slot: *mut RequiredSlot, change: Change) {
    let c = (*slot).communication;
    if c.is_null() {
        return change(w, Some(slot));
    }
    forget(w, c);
    recall(w, c);
    (*c).word.flags |= LEAVES;
    (*home(w)).leaving.insert(c, Leaving { slot, change });
}

/// The client of a communication leaves; it may.
pub unsafe fn leave(w: *mut Worker, c: *mut Communication) {
    (*c).word.flags &= !LEAVES;
    let Some(Leaving { slot, change }) = (*home(w)).leaving.remove(&c) else { return };
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
