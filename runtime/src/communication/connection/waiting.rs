//! Who waits until something about a component's connections changes.
//!
//! # Why this is sound
//! See the connection module.
#![allow(unsafe_op_in_unsafe_fn)]

use crate::instance::{holder_of, rare_if_any, rare_of};
use crate::layout::*;
use crate::queue::{Queue, ready_all};

/// A process waits until something about its component's connections changes.
pub unsafe fn wait(w: *mut Worker, p: *mut Process) {
    (*p).status = CONNECTION;
    (*rare_of(w, (*p).instance)).connecting.push(p);
}

pub unsafe fn wake_instance(w: *mut Worker, instance: *mut Instance) {
    let rare = rare_if_any(instance);
    if !rare.is_null() && !(*rare).connecting.is_empty() {
        ready_all(w, &mut core::mem::replace(&mut (*rare).connecting, Queue::EMPTY));
    }
}

/// Wakes those of the component that holds `instance` who wait to connect to it.
pub unsafe fn wake_holder(w: *mut Worker, instance: *mut Instance) {
    let holder = holder_of(instance);
    if !holder.is_null() {
        wake_instance(w, holder);
    }
}
