//! Processes that are written in Rust: how they run, and how their waits end.
//!
//! # Why this is sound
//! Their bodies run on the home worker's thread, as the process module says of all blocks; what is passed here is
//! alive.
#![allow(unsafe_op_in_unsafe_fn)]

use core::ptr::null_mut;

use super::slots::required_slots;
use super::{body_of, is_service};
use crate::layout::*;
use crate::queue::ready;

/// Runs a native process until it has to wait or has ended.
pub unsafe fn run_native(w: *mut Worker, p: *mut Process) {
    let run: NativeBody = core::mem::transmute(body_of(p).native);
    run(w, p);
}

/// A native process is ended by force: its body is called a last time, to give back what it owns, or its component if
/// it is the FINALLY.
pub unsafe fn end_native(w: *mut Worker, p: *mut Process) {
    (*p).status = FAILED;
    run_native(w, p);
}

/// A native service that waits to be called may have lent its client what it is called by: it ends that.
pub unsafe fn recall(w: *mut Worker, c: *mut Communication) {
    if (*c).word.flags & (CALLS | SERVICE_ENDED) == CALLS {
        let p = c.cast::<Process>();
        let status = core::mem::replace(&mut (*p).status, RECALLED);
        run_native(w, p);
        (*p).status = status;
    }
}

/// Ends the wait of a process that waits for the platform, and perhaps for a communication as well, as pumps do.
///
/// # Safety
/// On the home worker's thread; `p` is alive.
pub unsafe fn wake_parked(w: *mut Worker, p: *mut Process) {
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
