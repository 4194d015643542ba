//! The usual deletion: of a component whose one process serves its holder. It needs no record.
//!
//! The holder lets go of the communication, and the process that deletes waits: it stands where the client of that
//! communication would wait, which cannot wait there any more, and the component's holder is reached through it
//! meanwhile. When the service has ended and nothing else has come up, the component is dismantled. Whatever else
//! happens (another service has begun, somebody is ended by force) makes a record first ([`record`]), and then it is
//! a deletion like any other.
//!
//! # Why this is sound
//! From [`leave`] until `deletion::left` or [`record`] the communication stays alive, since only its service's end
//! frees it, and the waiting process stays alive, since whoever ends it by force asks for the record before.
#![allow(unsafe_op_in_unsafe_fn)]

use core::ptr::null_mut;

use super::record::{self, Deletion};
use crate::communication::connection::close_leaf;
use crate::communication::{let_go, may_close_as};
use crate::instance::*;
use crate::layout::*;

/// Begins to delete a component for a process, which waits then; `false`: nothing is done, this one is not usual.
pub unsafe fn leave(w: *mut Worker, p: *mut Process, instance: *mut Instance) -> bool {
    let Some(service) = only_service(instance) else { return false };
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
    true
}

/// The communication with the holder, if its service is the only process and all of the holder's may be closed now.
unsafe fn only_service(instance: *mut Instance) -> Option<*mut Communication> {
    if (*instance).live & (COUNT | DELETING) != 1 {
        return None;
    }
    let mut only = None;
    for offered in (*template_of(instance)).offered.get() {
        let c = (*slot_at::<OfferedSlot>(instance, offered.offset)).holder;
        if c.is_null() {
            continue;
        }
        if !may_close_as(c, &*offered.interface) {
            return None;
        }
        if (*c).process.instance == instance && (*c).word.flags & SERVICE_ENDED == 0 {
            only = Some(c);
        }
    }
    only
}

/// The record of an instance's deletion, null if it isn't being deleted.
pub unsafe fn record_of(w: *mut Worker, instance: *mut Instance) -> *mut Deletion {
    let service = leaving(instance);
    if service.is_null() {
        let is_deleted = (*instance).live & DELETING != 0;
        return if is_deleted { record::again(w, instance) } else { null_mut() };
    }
    let p = core::mem::replace(&mut (*service).waiter, null_mut());
    restore_holder(instance, p);
    (*rare_of(w, instance)).orphans.insert(service.expose_provenance());
    record::begin_for(w, instance, p)
}

/// The holder is what it was before the process began to wait.
pub unsafe fn restore_holder(instance: *mut Instance, p: *mut Process) {
    (*instance).holder = if (*instance).holder & 1 != 0 {
        p.expose_provenance() | 1
    } else {
        (*p).instance.expose_provenance()
    };
}
