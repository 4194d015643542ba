//! Processes end, by themselves, and with them what their components wait for.
//!
//! # Why this is sound
//! See the process module: who ends here is taken out of nothing but its own run.
#![allow(unsafe_op_in_unsafe_fn)]

use core::ptr::null_mut;

use super::deletion;
use crate::communication::{self, Finished};
use crate::home::home;
use crate::instance::{body_of, main_process, rare_if_any};
use crate::layout::{BEGUN, Instance, Process, Worker};
use crate::queue::ready_all;
use crate::worker::heap_of;

/// BEGIN has ended: the services that wait for it start.
///
/// # Safety
/// `p` runs on `w`, the home worker; it is the main process of its component.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_begun(w: *mut Worker, p: *mut Process) {
    begun(w, (*p).instance);
}

unsafe fn begun(w: *mut Worker, instance: *mut Instance) {
    (*instance).live |= BEGUN;
    if !rare_if_any(instance).is_null() {
        ready_all(w, &mut (*rare_if_any(instance)).unbegun);
    }
}

/// The body of a process has run to its end.
///
/// # Safety
/// `p` runs on `w`, the home worker; it owns nothing any more, and is not touched again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_finish(w: *mut Worker, p: *mut Process, location: u32) {
    let body = body_of(p);
    if body.interface.is_null() {
        let instance = (*p).instance;
        let main = main_process(instance);
        if !main.is_null() && *main == p {
            *main = null_mut();
            if (*instance).live & BEGUN == 0 {
                begun(w, instance);
            }
        }
        (*heap_of(w)).free(p.cast(), body.size as usize);
        ended(w, instance);
    } else {
        let instance = (*p).instance;
        let finished = communication::finish(w, p.cast(), &*body.interface, location);
        service_ended(w, instance, finished);
    }
}

/// The body of a service process has run to its end because what it stood for is lost.
///
/// # Safety
/// As for [`ds_finish`].
pub unsafe fn lost(w: *mut Worker, p: *mut Process) {
    let instance = (*p).instance;
    let finished = communication::lose(w, p.cast());
    service_ended(w, instance, finished);
}

#[inline(always)]
unsafe fn service_ended(w: *mut Worker, instance: *mut Instance, finished: Finished) {
    match finished {
        Finished::Failed => {}
        Finished::Ended => ended(w, instance),
        Finished::Left(deleting) => {
            one_less(w, instance);
            deletion::left(w, instance, deleting);
        }
    }
}

/// One process of an instance less.
#[inline]
pub unsafe fn ended(w: *mut Worker, instance: *mut Instance) {
    one_less(w, instance);
    deletion::go_on(w, instance);
}

#[inline]
unsafe fn one_less(w: *mut Worker, instance: *mut Instance) {
    (*home(w)).census.live -= 1;
    (*instance).live -= 1;
}
