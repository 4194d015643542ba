//! Clients that are to be bound to another server leave theirs where the protocol allows it: at once, if no
//! communication has begun or nothing is under way in it and they could only begin anew, else instead of the message by
//! which they do.
//!
//! # Why this is sound
//! See the communication module. A communication whose client is to leave is marked with [`LEAVES`] for as long as the
//! home knows where to, and its slot lives at least as long: it lets go of its communication before it goes.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::boxed::Box;
use alloc::rc::{Rc, Weak};
use core::ptr::{self, null_mut};

use super::close;
use super::connection::wake_through;
use crate::home::home;
use crate::layout::*;
use crate::process::recall;

/// Connects a slot, nothing of which is under way, to something else; or hears that the communication has ended before
/// its client could leave.
pub type Change = Box<dyn FnOnce(*mut Worker, Option<*mut RequiredSlot>)>;

/// A client that is to leave.
pub struct Leaving {
    slot: *mut RequiredSlot,
    change: Change,
    pending: Rc<()>,
}

/// Whoever wanted a client to leave knows it by this for as long as it has not.
#[derive(Clone, Default)]
pub struct Pending(Weak<()>);

impl Pending {
    /// Whether the client has neither left nor come to its end.
    pub fn waits(&self) -> bool {
        self.0.strong_count() > 0
    }
}

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
    let leaving = Leaving { slot, change, pending: Rc::new(()) };
    let pending = Pending(Rc::downgrade(&leaving.pending));
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

impl Leaving {
    fn is_for(&self, pending: &Pending) -> bool {
        ptr::eq(Rc::as_ptr(&self.pending), pending.0.as_ptr())
    }
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
