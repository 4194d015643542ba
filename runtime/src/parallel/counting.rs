//! How much is away: a process, or a team.
//!
//! # Safety of this module
//! `w` is the home worker.

use crate::home::home;
use crate::layout::Worker;
use crate::worker::heap_of;

/// One more goes: from now on, other workers may touch blocks that the home can reach.
///
/// # Safety
/// See the head of this file.
pub unsafe fn goes(w: *mut Worker) {
    // SAFETY: `w` is the home worker.
    unsafe {
        (*home(w)).parallel.away += 1;
        (*heap_of(w)).memory().depart();
    }
}

/// One less is away.
///
/// # Safety
/// See the head of this file.
pub unsafe fn came_back(w: *mut Worker) {
    // SAFETY: `w` is the home worker.
    unsafe {
        (*home(w)).parallel.away -= 1;
        (*heap_of(w)).memory().come_back();
    }
}
