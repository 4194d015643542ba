//! The end of a single process by force.
//!
//! # Why this is sound
//! Nothing of the process runs: the scheduler has control, or it waits. Whatever may point to its block is told first.
#![allow(unsafe_op_in_unsafe_fn)]

use core::ptr::null_mut;

use super::owned::drop_owned;
use super::survey::*;
use crate::communication;
use crate::communication::connection::required_slots;
use crate::home::home;
use crate::instance::*;
use crate::layout::*;
use crate::process;
use crate::queue::Queue;
use crate::worker::ground;

/// Ends a service that waits for nothing that would have to stay. Its component's deletion may go on then.
pub unsafe fn bury(w: *mut Worker, c: *mut Communication) {
    let p = c.cast::<Process>();
    let instance = (*p).instance;
    let others = |q: *mut Process| q != p;
    match (*p).status {
        SLEEPS => (*home(w)).timers.retain(others),
        PLATFORM => (*(*home(w)).platform).forget(p),
        _ => (*home(w)).timers.retain_alarms(others),
    }
    retain_ready(w, others);
    (*home(w)).parallel.candidates().retain(others);
    (*home(w)).outgoing.writers.retain(others);
    (*ground(w)).failures.retain(|failure| failure.process != p);
    leave_communications(instance, p);
    let rare = rare_if_any(instance);
    if !rare.is_null() {
        (*rare).unbegun.retain(others);
        (*rare).connecting.retain(others);
        (*rare).orphans.remove(c.addr());
    }
    monitor::expel(w, p);
    if !body_of(p).native.is_null() {
        process::end_native(w, p);
    }
    children_of_process(p, |cell| delete_detached(w, core::mem::replace(&mut *cell, null_mut())));
    free_frames(w, p);
    communication::free(w, c);
    (*home(w)).live -= 1;
    (*instance).live -= 1;
}

/// A process doesn't wait at any communication of its component any more.
unsafe fn leave_communications(instance: *mut Instance, p: *mut Process) {
    let leave = |c: *mut Communication| {
        if !c.is_null() && (*c).waiter == p {
            (*c).waiter = null_mut();
        }
    };
    required_slots(instance, |slot| leave((*slot).communication));
    let held = |cell: *mut *mut Instance| {
        for offered in (*template_of(*cell)).offered.get() {
            leave((*slot_at::<OfferedSlot>(*cell, offered.offset)).holder);
        }
    };
    children_of(instance, held);
    children_of_process(p, held);
}

/// Keeps those ready processes for whom `keep` holds.
pub unsafe fn retain_ready(w: *mut Worker, keep: impl FnMut(*mut Process) -> bool) {
    let mut queue = Queue::from_ready(w);
    queue.retain(keep);
    queue.into_ready(w);
}

/// Frees a process's procedure frames, and what all its frames own but components.
pub unsafe fn free_frames(w: *mut Worker, p: *mut Process) {
    frames_of(p, |base, owned| drop_owned(w, base, owned));
    while !process::frames(p).is_null() {
        process::ds_frame_end(w, p, process::innermost_frame(p));
    }
}
