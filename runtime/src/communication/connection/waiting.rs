//! Processes that wait until something about a component's connections changes.

use core::mem::take;

use crate::communication::watching;
use crate::instance::natives::wake_parked;
use crate::instance::{body_of, holder_of, main_process, rare_if_any, rare_of};
use crate::layout::*;
use crate::queue::ready_all;

/// A process waits until something about its component's connections changes.
///
/// # Safety
/// `p` runs on `w`, the home worker, and leaves.
pub unsafe fn wait(w: *mut Worker, p: *mut Process) {
    // SAFETY: the component of a process that runs is alive; the process stands in no queue.
    unsafe {
        (*p).status = CONNECTION;
        (*rare_of(w, (*p).instance)).connecting.push(p);
    }
}

/// Something about a component's connections has changed: wakes the processes that wait for that.
///
/// # Safety
/// At home; the instance's block is there.
pub unsafe fn wake_instance(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: an instance that goes takes its processes out of its queues before.
    unsafe {
        let rare = rare_if_any(instance);
        if rare.is_null() {
            return;
        }
        if !(*rare).connecting.is_empty() {
            ready_all(w, &mut take(&mut (*rare).connecting));
        }
        watching::tell_of_connections(w, instance);
    }
}

/// Wakes the processes of the holder of `instance` that wait to connect something to it.
///
/// # Safety
/// At home; the instance's block is there.
pub unsafe fn wake_holder(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: a holder's block is there as long as it holds something.
    unsafe {
        let holder = holder_of(instance);
        if !holder.is_null() {
            wake_instance(w, holder);
        }
    }
}

/// Something was disconnected: tells a native main process of its component, which has to know.
///
/// # Safety
/// At home; the slot is of a component that is alive.
pub unsafe fn tell_disconnected(w: *mut Worker, slot: *mut RequiredSlot) {
    // SAFETY: the slot's component is alive.
    unsafe { tell_main(w, (*slot).instance) }
}

/// Something about a component's connections has changed: tells its main process, if that is native.
///
/// # Safety
/// At home; the component is alive.
pub unsafe fn tell_main(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: the instance's main process is null or alive.
    unsafe {
        let main = main_process(instance);
        if !main.is_null() && !(*main).is_null() && !body_of(*main).native.is_null() {
            wake_parked(w, *main);
            wake_instance(w, instance);
        }
    }
}
