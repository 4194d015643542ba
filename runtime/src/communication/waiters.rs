//! Who waits at a communication. Usually that is one side. One that doesn't wait for ever may wait beside the other:
//! then it is the waiter, and its link leads to the other, which takes its place when it leaves.

use core::ptr::null_mut;

use crate::layout::*;

/// Whether a process waits for a message, but not for ever.
///
/// # Safety
/// Its block is there.
#[inline]
pub unsafe fn is_timed(p: *mut Process) -> bool {
    // SAFETY: its block is there. No status is greater than these two.
    unsafe { (*p).status >= TIMED }
}

/// The other side, if it waits beside a communication's waiter; else null.
///
/// # Safety
/// The waiter's block is there.
#[inline]
pub unsafe fn beside(waiter: *mut Process) -> *mut Process {
    // SAFETY: the waiter's block is there.
    unsafe { if is_timed(waiter) { (*waiter).next } else { null_mut() } }
}

/// A process that waits at a communication does so no longer, if it does.
///
/// # Safety
/// At home; `c` is live, and so is its waiter.
pub unsafe fn leave(c: *mut Communication, p: *mut Process) {
    // SAFETY: the waiter is alive.
    unsafe {
        let waiter = (*c).waiter;
        if waiter == p {
            (*c).waiter = beside(p);
        } else if !waiter.is_null() && beside(waiter) == p {
            (*waiter).next = null_mut();
        }
    }
}
