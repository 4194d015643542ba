//! How processes end by themselves, and what goes on in their components then.
//!
//! # Why this is sound
//! See the process module: a process that ends here runs, so it stands in no queue.

use core::ptr::null_mut;

use drystone_component::Body;

use super::occasions;
use crate::communication::connection::is_sealed;
use crate::communication::{self, Finished};
use crate::home::{is_home, team};
use crate::instance::{body_of, main_process, rare_if_any};
use crate::layout::{APART, BEGUN, Communication, Instance, Process, Worker};
use crate::queue::ready_all;
use crate::visiting::{end_later, want_home};
use crate::worker::heap_of;

/// BEGIN has ended: the services that wait for it start.
///
/// # Safety
/// `p` runs on `w`, the home worker; it is the main process of its component.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_begun(w: *mut Worker, p: *mut Process) {
    // SAFETY: the instance of a process that runs is live.
    unsafe { begun(w, (*p).instance) };
}

/// # Safety
/// `w` is the home worker; `instance` is live.
unsafe fn begun(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: `w` is the home worker; `instance` is live.
    unsafe {
        (*instance).live |= BEGUN;
        if !rare_if_any(instance).is_null() {
            ready_all(w, &mut (*rare_if_any(instance)).unbegun);
        }
    }
}

/// The body of a process has run to its end.
///
/// # Safety
/// `p` runs on `w`, the home worker; it owns nothing any more, and is not touched again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_finish(w: *mut Worker, p: *mut Process, location: u32) {
    // SAFETY: `p` runs on `w`; `process::start` has made the block of one that is no service, with this size.
    unsafe {
        let body = body_of(p);
        if (*team(w)).is_apart && concerns_others(w, p, body) {
            return end_at_home(w, p, location);
        }
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
}

/// Whether the end of a process concerns somebody at another worker: its client, or who deletes its component.
///
/// # Safety
/// `p` runs on `w`; `body` is its own.
#[cold]
unsafe fn concerns_others(w: *mut Worker, p: *mut Process, body: &Body) -> bool {
    // SAFETY: a service's process is its communication.
    unsafe {
        let is_apart = !body.interface.is_null() && (*p.cast::<Communication>()).word.flags & APART != 0;
        is_apart || !is_home(w) && (*(*p).instance).is_leaving() && !is_sealed(w)
    }
}

/// A process has run to its end, and ends when all that concerns are at home.
///
/// # Safety
/// As for [`ds_finish`]; at home, `p` is a service whose client is lent.
#[cold]
unsafe fn end_at_home(w: *mut Worker, p: *mut Process, location: u32) {
    // SAFETY: the team is this worker's, or the home's data are.
    unsafe {
        if is_home(w) {
            return end_later(w, p, location);
        }
        if let Some(lent) = &mut (*team(w)).lent {
            lent.finished.push((p, location));
        }
        want_home(w);
    }
}

/// The body of a service process has run to its end because what it stood for is lost.
///
/// # Safety
/// As for [`ds_finish`]; `p` is a service.
pub unsafe fn lost(w: *mut Worker, p: *mut Process) {
    // SAFETY: the block of a service is its communication.
    unsafe {
        let instance = (*p).instance;
        let finished = communication::lose(w, p.cast());
        service_ended(w, instance, finished);
    }
}

/// # Safety
/// `w` is the home worker; `instance` is live, and a service of it has come to this.
#[inline(always)]
unsafe fn service_ended(w: *mut Worker, instance: *mut Instance, finished: Finished) {
    // SAFETY: `w` is the home worker; `instance` is live, and a service of it has come to this; a process that deletes
    // is live.
    unsafe {
        match finished {
            Finished::Failed => {}
            Finished::Ended => ended(w, instance),
            Finished::Left(deleting) => {
                one_less(w, instance);
                occasions::left(w, instance, deleting);
            }
        }
    }
}

/// A process of an instance has ended.
///
/// # Safety
/// `w` is the home worker; `instance` is live, and that process has not been counted as ended yet.
#[inline]
pub unsafe fn ended(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: `w` is the home worker; `instance` is live, and that process has not been counted as ended yet.
    unsafe {
        one_less(w, instance);
        occasions::go_on(w, instance);
    }
}

/// # Safety
/// As for [`ended`].
#[inline]
unsafe fn one_less(w: *mut Worker, instance: *mut Instance) {
    // SAFETY: as for `ended`.
    unsafe {
        (*team(w)).census.live -= 1;
        (*instance).live -= 1;
    }
}
