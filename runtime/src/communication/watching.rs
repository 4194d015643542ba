//! Processes that watch several things, and go on when something happens at one of them.
//!
//! A communication that is watched is marked with [`SELECTED`], so that others cost nothing. It is never closed for the
//! side that watches it: when it ends, that is told ([`tell`]), and nobody watches it any more.
//!
//! # Safety of this module
//! A process that watches is live, and stands in no queue but its monitor's for conditions, or waits for its lock, or
//! is ready; it is forgotten before it is ended by force. What it watches is live.

use crate::home::team;
use crate::home::watches::{Place, Watch};
use crate::instance::{monitor, rare_of};
use crate::layout::*;
use crate::queue::ready;

/// A process watches until something happens, or its alarm goes off.
///
/// # Safety
/// At home; `p` runs and doesn't watch yet, and the places are live.
pub unsafe fn begin(w: *mut Worker, p: *mut Process, watch: Watch) {
    // SAFETY: the communications are live; the home's data are this thread's.
    unsafe {
        for &place in &watch.places {
            match place {
                Place::Communication(c) => (*c).word.flags |= SELECTED,
                // Without a rare part, nobody is told.
                Place::Connections(instance) => _ = rare_of(w, instance),
            }
        }
        (*team(w)).watches.add(p, watch);
    }
}

/// A process doesn't watch any more, if it did.
///
/// # Safety
/// At home; `p` is live.
pub unsafe fn forget(w: *mut Worker, p: *mut Process) {
    // SAFETY: what is watched is live; the home's data are this thread's.
    unsafe {
        let watches = &mut (*team(w)).watches;
        let Some(Watch { places, alarm }) = watches.take(p) else { return };
        for place in places {
            match place {
                Place::Communication(c) if watches.first_at(place).is_none() => {
                    (*c).word.flags &= !SELECTED;
                }
                _ => {}
            }
        }
        if let Some((time, number)) = alarm {
            (*team(w)).timers.drop_alarm(time, number);
        }
    }
}

/// Something has happened at a communication: those that watch it find out what.
///
/// # Safety
/// At home; `c` is live.
#[inline]
pub unsafe fn tell(w: *mut Worker, c: *mut Communication) {
    // SAFETY: `c` is live.
    unsafe {
        if (*c).word.flags & SELECTED != 0 {
            happened(w, Place::Communication(c));
        }
    }
}

/// Something about the connections of a component with a rare part has changed.
///
/// # Safety
/// At home.
#[inline]
pub unsafe fn tell_of_connections(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: the home's data are this thread's.
    unsafe {
        if !(*team(w)).watches.is_empty() {
            happened(w, Place::Connections(instance));
        }
    }
}

/// The time of a process is up, if it watches; `false`: it doesn't.
///
/// # Safety
/// At home; `p` is live.
pub unsafe fn overdue(w: *mut Worker, p: *mut Process) -> bool {
    // SAFETY: `p` is live; the home's data are this thread's.
    unsafe {
        let watches = (*team(w)).watches.has(p);
        if watches {
            forget(w, p);
            go_on(w, p);
        }
        watches
    }
}

/// # Safety
/// At home; the place is live.
#[cold]
unsafe fn happened(w: *mut Worker, place: Place) {
    // SAFETY: who watches is live; no reference to the home's data lasts over a call.
    unsafe {
        while let Some(p) = (*team(w)).watches.first_at(place) {
            forget(w, p);
            go_on(w, p);
        }
    }
}

/// A process that watched tries again; one that also awaits a condition does so as soon as it has its lock.
///
/// # Safety
/// At home; `p` is live, and watched until now.
unsafe fn go_on(w: *mut Worker, p: *mut Process) {
    // SAFETY: a process of this status stands in no queue.
    unsafe {
        if (*p).status == SELECTS {
            ready(w, p);
        } else {
            monitor::overdue(w, p);
        }
    }
}
