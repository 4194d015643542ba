//! Runs other processes within a process's long call into the runtime: the call stays where it is on the processor's
//! stack, and goes on when they have had a time slice, or none of them is ready any more.
//!
//! # Why this is sound
//! To other processes it looks like one that was preempted, but it stands in no queue, so nothing else makes it run.
//! What would free what it works on waits until it has left the runtime: errors, paused deletions and the program's end
//! are the outer scheduler's, which gets control as soon as it may.

use core::sync::atomic::Ordering::{Acquire, Relaxed};

use super::attending::{attend, wake_due};
use super::returning::come_home;
use crate::home::{home, team};
use crate::layout::*;
use crate::parallel;
use crate::process::enter;
use crate::worker::{ground, want_attention};

/// Most long calls that are within each other; during a further one no other process runs.
const DEEPEST: u32 = 8;

/// The time slice is over while `p` is in a long call.
///
/// # Safety
/// As for [`crate::long::Caller::new`]; `w` is the home worker.
pub unsafe fn let_others_run(w: *mut Worker, p: *mut Process) {
    // SAFETY: as for `crate::long::Caller::new`; `w` is the home worker.
    unsafe {
        if !may(w, p) {
            return;
        }
        (*team(w)).census.within += 1;
        run_others(w);
        (*team(w)).census.within -= 1;
        // What was left undone.
        want_attention(w);
    }
}

/// # Safety
/// As for [`let_others_run`].
unsafe fn may(w: *mut Worker, p: *mut Process) -> bool {
    // SAFETY: as for `let_others_run`.
    let (status, within) = unsafe { ((*p).status, (*team(w)).census.within) };
    // A process whose condition is tested is not the one that runs: the monitor is half-way.
    let runs = !matches!(status, AWAITS_SHARED | AWAITS_EXCLUSIVE);
    // SAFETY: as for `let_others_run`.
    runs && within < DEEPEST && unsafe { is_calm(w) }
}

/// Nothing has happened that the outer scheduler must handle before anybody else runs.
///
/// # Safety
/// `w` is the home worker.
unsafe fn is_calm(w: *mut Worker) -> bool {
    // SAFETY: `w` is the home worker.
    let ground = unsafe { &*ground(w) };
    ground.failures.is_empty() && ground.halted.is_none()
}

/// Runs those that are ready until their slice is over.
///
/// # Safety
/// As for [`let_others_run`].
unsafe fn run_others(w: *mut Worker) {
    // SAFETY: the call holds no reference to what others may change, so they may run.
    unsafe {
        let mut is_over = false;
        while !is_over {
            let attention = (*w).attention.swap(0, Acquire);
            come_home(w);
            if !is_calm(w) {
                return;
            }
            attend(w, attention);
            wake_due(w);
            let p = parallel::next(w, attention & TICK != 0);
            if p.is_null() {
                return;
            }
            let program = (*home(w)).program;
            enter(w, program, p);
            is_over = (*w).attention.load(Acquire) & TICK != 0;
        }
        // The slice of the one that goes on begins now.
        (*w).attention.fetch_and(!TICK, Relaxed);
    }
}
