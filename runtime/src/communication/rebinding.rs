//! Clients that are to be bound to another server leave theirs where the protocol allows it: at once, if no
//! communication has begun; else instead of a message that could begin one anew.
//!
//! # Safety
//! A communication whose client is to leave is marked with [`LEAVES`] as long as the home knows where to. Its slot
//! lives at least as long, for a slot lets go of its communication before it goes.

use core::ptr::null_mut;

use super::connection::wake_through;
use super::{close, stay};
use crate::home::communications::{Change, Leaving, Pending};
use crate::home::team;
use crate::instance::natives::recall;
use crate::instance::stays_at_home;
use crate::layout::*;

/// The client at a slot is to leave.
///
/// # Safety
/// At home; the slot's instance is alive.
pub unsafe fn begin(w: *mut Worker, slot: *mut RequiredSlot, change: Change) -> Pending {
    // SAFETY: the slot's communication is null or live; the home's data are not used while it is recalled.
    unsafe {
        // From now on its connections may lead anywhere.
        stays_at_home((*slot).instance);
        let c = (*slot).communication;
        if c.is_null() {
            change(w, Some(slot));
            return Pending::default();
        }
        stay(w, c);
        recall(w, c);
        (*c).word.flags |= LEAVES;
        let (leaving, pending) = Leaving::new(slot, change);
        (*team(w)).communications.leaving.insert(c, leaving);
        pending
    }
}

/// The slot of a client that has not left yet.
///
/// # Safety
/// At home.
pub unsafe fn slot_of(w: *mut Worker, pending: &Pending) -> Option<*mut RequiredSlot> {
    // SAFETY: at home, where nobody else looks at this now.
    let communications = unsafe { &(*team(w)).communications };
    communications.leaving.values().find(|leaving| leaving.is_for(pending)).map(|leaving| leaving.slot)
}

/// A client is to stay where it is, if it has not left yet; its [`Change`] is not called.
///
/// # Safety
/// At home.
pub unsafe fn withdraw(w: *mut Worker, pending: &Pending) {
    // SAFETY: at home, where nobody else looks at this now.
    let communications = unsafe { &mut (*team(w)).communications };
    communications.leaving.retain(|&c, leaving| {
        let stays = leaving.is_for(pending);
        if stays {
            // SAFETY: the communication is live while its client is to leave.
            unsafe { (*c).word.flags &= !LEAVES };
        }
        !stays
    });
}

/// The client of a communication leaves.
///
/// # Safety
/// At home; `c` is live, and its protocol allows that its client closes. Nobody uses it afterwards.
pub unsafe fn leave(w: *mut Worker, c: *mut Communication) {
    // SAFETY: `c` is live, and its slot with it; the home's data are not used while the slot is changed.
    unsafe {
        (*c).word.flags &= !LEAVES;
        let Some(Leaving { slot, change, .. }) = (*team(w)).communications.leaving.remove(&c) else { return };
        (*slot).communication = null_mut();
        close(w, c);
        change(w, Some(slot));
        wake_through(w, slot);
    }
}
