//! How a native process gives up the processor: see the platform module.

use crate::home::home;
use crate::instance::natives::wake_parked;
use crate::layout::{PLATFORM, Process, READY, Worker};
use crate::platform::Platform;
use crate::queue::ready;

/// The platform.
///
/// # Safety
/// `w` is the home worker. Only its thread may use what the result points to, for one call at a time.
pub unsafe fn platform(w: *mut Worker) -> *mut dyn Platform {
    // SAFETY: on the home worker's thread.
    unsafe { (*home(w)).platform }
}

/// The running process waits until the platform passes it to `wake`, or [`unpark`] is called, or its client closes.
///
/// # Safety
/// `p` runs on `w`, the home worker, and its body returns afterwards.
pub unsafe fn park(_w: *mut Worker, p: *mut Process) {
    // SAFETY: a process that runs is alive.
    unsafe { (*p).status = PLATFORM }
}

/// Ends the wait of a process that is parked; does nothing if it isn't.
///
/// # Safety
/// On the thread of `w`, the home worker; `p` is alive.
pub unsafe fn unpark(w: *mut Worker, p: *mut Process) {
    // SAFETY: the process is alive.
    unsafe { wake_parked(w, p) }
}

/// The running process gives the others a turn.
///
/// # Safety
/// As for [`park`].
pub unsafe fn yield_now(w: *mut Worker, p: *mut Process) {
    // SAFETY: a process that runs is alive, and stands in no queue.
    unsafe {
        ready(w, p);
        (*p).status = READY;
    }
}
