//! The usual deletion: of a component whose one process serves its holder. It needs no record.
//!
//! The holder lets go of the communication, and the process that deletes waits. It stands where the client of that
//! communication would wait, which can't wait there any more, and meanwhile [`Instance::holder`] leads to it. When the
//! service has ended and nothing else has come up, the component is dismantled. Anything else that happens (another
//! service has begun, a process is ended by force) makes a record first ([`record_of`]), and then it is a deletion like
//! any other.
//!
//! # Why this is sound
//! From [`leave`] until `occasions::left` or [`record_of`] the communication is live, since only its service's end
//! frees it, and the waiting process is live, since the record is made before it is ended by force.

use core::ptr::null_mut;

use super::record::{self, Deletion};
use crate::communication::connection::close_leaf;
use crate::communication::let_go;
use crate::instance::*;
use crate::layout::*;
use crate::visiting::is_held_up;

/// Begins to delete a component for a process, which waits then; `false`: nothing is done, this one is not usual.
///
/// # Safety
/// `p` runs on `w`, the home worker; it or its component holds `instance`, which has a block.
pub unsafe fn leave(w: *mut Worker, p: *mut Process, instance: *mut Instance) -> bool {
    // SAFETY: an instance with a process is live, and a communication to which its slot leads.
    unsafe {
        let Some(service) = only_service(instance) else { return false };
        if is_held_up(w, instance) {
            return false;
        }
        for offered in (*template_of(instance)).offered.get() {
            let cell = &raw mut (*slot_at::<OfferedSlot>(instance, offered.offset)).holder;
            if *cell == service {
                *cell = null_mut();
                let_go(w, service);
            } else {
                close_leaf(w, cell);
            }
        }
        (*service).waiter = p;
        (*instance).live |= DELETING;
        (*instance).holder = service.expose_provenance() | LEAVING | (*instance).holder & 1;
        (*p).status = DELETION;
    }
    true
}

/// The communication with the holder, if its service is the only process and all of the holder's may be closed now.
///
/// # Safety
/// `instance` has a block; on the home worker's thread.
unsafe fn only_service(instance: *mut Instance) -> Option<*mut Communication> {
    // SAFETY: `instance` has a block; on the home worker's thread; a communication to which a slot leads is live.
    unsafe {
        if (*instance).live & (COUNT | DELETING) != 1 {
            return None;
        }
        let mut only = None;
        for offered in (*template_of(instance)).offered.get() {
            let c = (*slot_at::<OfferedSlot>(instance, offered.offset)).holder;
            if c.is_null() {
                continue;
            }
            if !(*c).word.may_close(&*offered.interface) {
                return None;
            }
            if (*c).process.instance == instance && (*c).word.flags & SERVICE_ENDED == 0 {
                only = Some(c);
            }
        }
        only
    }
}

/// The record of an instance's deletion, null if it isn't being deleted.
///
/// # Safety
/// `w` is the home worker; `instance` is live.
pub unsafe fn record_of(w: *mut Worker, instance: *mut Instance) -> *mut Deletion {
    // SAFETY: `w` is the home worker; `instance` is live; the process that waits at `left_through` is live.
    unsafe {
        let service = (*instance).left_through();
        if service.is_null() {
            return if (*instance).is_leaving() { record::again(w, instance) } else { null_mut() };
        }
        let p = core::mem::replace(&mut (*service).waiter, null_mut());
        restore_holder(instance, p);
        (*rare_of(w, instance)).orphans.insert(service.expose_provenance());
        record::begin_for(w, instance, p)
    }
}

/// Makes the holder what it was before the process began to wait.
///
/// # Safety
/// `instance` and `p` are live, and `p` waits by [`leave`], or did until now.
pub unsafe fn restore_holder(instance: *mut Instance, p: *mut Process) {
    // SAFETY: `instance` and `p` are live, and `p` waits by `leave`, or did until now.
    unsafe {
        (*instance).holder = if (*instance).holder & 1 != 0 {
            p.expose_provenance() | 1
        } else {
            (*p).instance.expose_provenance()
        };
    }
}
