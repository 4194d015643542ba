//! What is done after HALT: native components receive what was sent to them before, and do what it says. Nothing of
//! the program itself runs any more.
//!
//! # Why this is sound
//! No process of the program is resumed, so each stays as it is until everything is given back. Native ones run as
//! the outer scheduler has them run: on the home worker's thread, one after the other.
#![allow(unsafe_op_in_unsafe_fn)]

use super::attending::poll;
use crate::home::{home, shared};
use crate::instance::body_of;
use crate::instance::natives::run_native;
use crate::layout::*;
use crate::native::is_at_work;
use crate::queue::Queue;

/// They have so long, in nanoseconds.
const PATIENCE: u64 = 1_000_000_000;

/// Lets native components come to the end of what they were told.
pub unsafe fn settle(w: *mut Worker) {
    let end = shared(w).threads.clock() + PATIENCE;
    loop {
        run_natives(w, end);
        let left = end.saturating_sub(shared(w).threads.clock());
        if left == 0 || !are_at_work(w) {
            return;
        }
        poll(w, Some(left));
    }
}

/// Runs native processes until none is ready.
unsafe fn run_natives(w: *mut Worker, end: u64) {
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
            if shared(w).threads.clock() >= end {
                return;
            }
            if !body_of(p).native.is_null() {
                run_native(w, p);
            }
        }
    }
}

/// Whether any of them waits for the platform before it can go on with what it has received.
unsafe fn are_at_work(w: *mut Worker) -> bool {
    let mut found = false;
    (*(*home(w)).platform).waiting(&mut |p| found |= unsafe { is_at_work(p) });
    found
}
