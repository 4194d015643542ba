//! How a service ends whose client is lost: where it would receive, or send without the lock. It gives the lock up,
//! leaves its procedures, and goes on with FINALLY, or ends.
//!
//! Such a process is resumed here, as a native one is ([`crate::native::ds_native`]), as often as it has to wait.
//!
//! # Why this is sound
//! A process stops at a point where it has left generated code, with all that it owns where its frames say. That code
//! goes on at FINALLY only, which needs nothing of the frame but variables in memory.

use drystone_component::{Body, Owned};

use super::delete::delete_storage;
use super::ending;
use super::owned::{Owner, Storage};
use crate::home::home;
use crate::instance::*;
use crate::layout::*;
use crate::process::{ds_frame_end, frames, innermost_frame};
use crate::queue::ready;

/// No location in the source.
const NO_LOCATION: u32 = u32::MAX;
/// It isn't known what the process has written.
const EVERYTHING: u64 = u64::MAX;

/// Stops a service, when the scheduler has control.
///
/// # Safety
/// `w` is the home worker; `p` is a live service that has left generated code and stands in no queue.
pub unsafe fn begin(w: *mut Worker, p: *mut Process) {
    // SAFETY: `w` is the home worker; `p` is a live service that has left generated code and stands in no queue.
    unsafe {
        if (*p).lock != LOCK_NONE {
            monitor::ds_unlock(w, p, EVERYTHING);
        }
        (*p).resume = (*home(w)).program.native_shim;
        ready(w, p);
    }
}

/// Goes on with a service that was stopped, when it has the turn again.
///
/// # Safety
/// `p` runs on `w`, the home worker, and was stopped by [`begin`].
pub unsafe fn go_on(w: *mut Worker, p: *mut Process) {
    // SAFETY: `p` runs on `w`, the home worker, and was stopped by `begin`; frames and their owners are described by
    // the compiler.
    unsafe {
        loop {
            let frame = frames(p);
            if frame.is_null() {
                break;
            }
            let owner = Owner::new(frame.cast(), (*(*frame).frame).owned.get());
            if delete_storage(w, p, Storage::Frame(owner), NO_LOCATION) == Status::Leave {
                return;
            }
            ds_frame_end(w, p, innermost_frame(p));
        }
        let body = body_of(p);
        let owned = if body.finally.is_null() { body.owned.get() } else { temporaries(body) };
        let owner = Owner::new(p.cast(), owned);
        if delete_storage(w, p, Storage::Frame(owner), NO_LOCATION) == Status::Leave {
            return;
        }
        if body.finally.is_null() {
            return ending::ds_finish(w, p, NO_LOCATION);
        }
        (*p.cast::<Communication>()).word.flags |= ENDING;
        (*p).resume = body.finally;
        ready(w, p);
    }
}

/// What a frame owns besides its variables.
fn temporaries(body: &'static Body) -> &'static [Owned] {
    let owned = body.owned.get();
    let first = owned.iter().position(|owned| owned.name.get().is_empty());
    &owned[first.unwrap_or(owned.len())..]
}
