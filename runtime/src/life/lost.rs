//! The client of a service is lost: it was ended by force, killed or cut off. A service of compiled code goes on, and finds that
//! out (the communication module); a native one is ended at once, which is as good as being left at an await.
//!
//! # Why this is sound
//! Nothing of a native process that ends here runs: the scheduler has control, or it waits. Whatever may point to its block is told
//! first.
#![allow(unsafe_op_in_unsafe_fn)]

use core::mem::replace;
use core::ptr::null_mut;

use crate::communication::connection::required_slots;
use crate::communication::{self, drop_buffered, interface_of};
use crate::home::home;
use crate::instance::*;
use crate::layout::*;
use crate::process;
use crate::queue::retain_ready;
use crate::worker::ground;

/// The client of a communication is lost, which nobody leads to any more but the service, if that runs. Answers the component that
/// has a process less by it, whose deletion may go on then; else null.
pub unsafe fn lose_client(w: *mut Worker, c: *mut Communication) -> *mut Instance {
    if (*c).word.flags & SERVICE_ENDED != 0 {
        drop_buffered(w, c, interface_of(c));
        communication::free(w, c);
        return null_mut();
    }
    if body_of(c.cast()).native.is_null() {
        communication::lose_client(w, c);
        return null_mut();
    }
    let server = (*c).process.instance;
    drop_buffered(w, c, interface_of(c));
    bury(w, c);
    server
}

/// The holder of a component is gone, wherever it is in what it says to it.
pub unsafe fn lose_holder(w: *mut Worker, instance: *mut Instance) {
    for offered in (*template_of(instance)).offered.get() {
        let held = &raw mut (*slot_at::<OfferedSlot>(instance, offered.offset)).holder;
        let c = replace(&mut *held, null_mut());
        if !c.is_null() {
            lose_client(w, c);
        }
    }
}

/// Ends a native service.
unsafe fn bury(w: *mut Worker, c: *mut Communication) {
    let p = c.cast::<Process>();
    let instance = (*p).instance;
    let others = |q: *mut Process| q != p;
    match (*p).status {
        SLEEPS => (*home(w)).timers.retain(others),
        PLATFORM => (*(*home(w)).platform).forget(p),
        _ => (*home(w)).timers.retain_alarms(others),
    }
    retain_ready(w, others);
    (*ground(w)).failures.retain(|failure| failure.process != p);
    leave_communications(instance, p);
    let rare = rare_if_any(instance);
    if !rare.is_null() {
        (*rare).unbegun.retain(others);
        (*rare).connecting.retain(others);
        (*rare).orphans.remove(c.addr());
    }
    process::end_native(w, p);
    communication::free(w, c);
    (*home(w)).live -= 1;
    (*instance).live -= 1;
}

/// A process doesn't wait at any communication of its component any more.
unsafe fn leave_communications(instance: *mut Instance, p: *mut Process) {
    required_slots(instance, |slot| {
        let c = (*slot).communication;
        if !c.is_null() && (*c).waiter == p {
            (*c).waiter = null_mut();
        }
    });
}
