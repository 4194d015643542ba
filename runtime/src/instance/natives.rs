//! Native processes, which are written in Rust: how they run, and how their waits end.
//!
//! # Why this is sound
//! Their bodies run on the home worker's thread, as the process module says of all blocks.

use core::mem::{replace, transmute};
use core::ptr::null_mut;

use super::slots::required_slots;
use super::{body_of, is_service};
use crate::layout::*;
use crate::queue::ready;

/// Runs a native process until it has to wait or has ended.
///
/// # Safety
/// `w` is the home worker; `p` is live, native, and not in the middle of a run.
pub unsafe fn run_native(w: *mut Worker, p: *mut Process) {
    // SAFETY: `Body::native` of a native process is a function of this type.
    unsafe {
        let run: NativeBody = transmute(body_of(p).native);
        run(w, p);
    }
}

/// Ends a native process by force: its body is called a last time, to give back what it owns, or what its component
/// owns if it is the FINALLY.
///
/// # Safety
/// As for [`run_native`].
pub unsafe fn end_native(w: *mut Worker, p: *mut Process) {
    // SAFETY: as for `run_native`.
    unsafe {
        (*p).status = FAILED;
        run_native(w, p);
    }
}

/// Has a native service that waits to be called take back what it has lent to its client, if it has lent anything.
///
/// # Safety
/// `w` is the home worker; `c` is live.
pub unsafe fn recall(w: *mut Worker, c: *mut Communication) {
    // SAFETY: a service whose communication has `CALLS` is native, and parked.
    unsafe {
        if (*c).word.flags & (CALLS | SERVICE_ENDED) == CALLS {
            let p = c.cast::<Process>();
            let status = replace(&mut (*p).status, RECALLED);
            run_native(w, p);
            (*p).status = status;
        }
    }
}

/// Ends the wait of a process that waits for the platform, and perhaps for a communication as well, as pumps do.
///
/// # Safety
/// `w` is the home worker; `p` is live.
pub unsafe fn wake_parked(w: *mut Worker, p: *mut Process) {
    // SAFETY: communications that slots lead to are live. A process that waits for the platform stands in no queue.
    unsafe {
        if (*p).status != PLATFORM {
            return;
        }
        let leave = |c: *mut Communication| {
            if !c.is_null() && (*c).waiter == p {
                (*c).waiter = null_mut();
            }
        };
        if is_service(p) {
            leave(p.cast());
            recall(w, p.cast());
        }
        required_slots((*p).instance, |slot| leave((*slot).communication));
        ready(w, p);
    }
}
