//! What is done after HALT: native components receive what was sent to them before, and do what it says. Nothing of
//! the program itself runs any more.
//!
//! # Why this is sound
//! No process of the program is resumed, so each stays as it is until everything is given back. Native ones run as
//! under the outer scheduler: on the home worker's thread, one after the other.
//!
//! # Safety of this module
//! *Halted*: `w` is the home worker, whose scheduler has control for the last time.

use super::attending::poll;
use crate::home::{home, shared};
use crate::instance::body_of;
use crate::instance::natives::run_native;
use crate::layout::*;
use crate::native::is_at_work;
use crate::queue::Queue;

/// How long native components have, in nanoseconds.
const PATIENCE: u64 = 1_000_000_000;

/// Lets native components come to the end of what they were told.
///
/// # Safety
/// *Halted.*
pub unsafe fn settle(w: *mut Worker) {
    // SAFETY: *halted*.
    unsafe {
        let threads = shared(w).threads;
        let end = threads.clock() + PATIENCE;
        loop {
            run_natives(w, end);
            let left = end.saturating_sub(threads.clock());
            if left == 0 || !are_at_work(w) {
                return;
            }
            poll(w, Some(left));
        }
    }
}

/// Runs native processes until none is ready.
///
/// # Safety
/// *Halted.*
unsafe fn run_natives(w: *mut Worker, end: u64) {
    // SAFETY: *halted*; a ready process is live, and not in the middle of a run.
    unsafe {
        let threads = shared(w).threads;
        loop {
            let mut ready = Queue::from_ready(w);
            if ready.is_empty() {
                return;
            }
            loop {
                let p = ready.pop();
                if p.is_null() {
                    break;
                }
                if threads.clock() >= end {
                    return;
                }
                if !body_of(p).native.is_null() {
                    run_native(w, p);
                }
            }
        }
    }
}

/// Whether a native process waits for the platform before it can go on with what it has received.
///
/// # Safety
/// *Halted.*
unsafe fn are_at_work(w: *mut Worker) -> bool {
    let mut found = false;
    // SAFETY: *halted*; processes that are registered with the platform are live.
    unsafe { (*(*home(w)).platform).waiting(&mut |p| found |= is_at_work(p)) };
    found
}
