//! Who waits until something about a component's connections changes.
//!
//! # Why this is sound
//! See the connection module.
#![allow(unsafe_op_in_unsafe_fn)]

use crate::instance::natives::wake_parked;
use crate::instance::{body_of, holder_of, main_process, rare_if_any, rare_of};
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

/// Something was disconnected whose component may have a native main process, which would want to know.
///
/// # Safety
/// On the home worker's thread; the slot is of a component that is alive.
pub unsafe fn tell_disconnected(w: *mut Worker, slot: *mut RequiredSlot) {
    tell_main(w, (*slot).instance);
}

/// Something about a component's connections has changed that its main process would want to know, if it is a native
/// one.
///
/// # Safety
/// On the home worker's thread; the component is alive.
pub unsafe fn tell_main(w: *mut Worker, instance: *mut Instance) {
    let main = main_process(instance);
    if !main.is_null() && !(*main).is_null() && !body_of(*main).native.is_null() {
        wake_parked(w, *main);
        wake_instance(w, instance);
    }
}
