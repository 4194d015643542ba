//! A service whose client is lost ends where it would have to hear from it, or speaks to nobody without the lock: it
//! gives the lock up, leaves its procedures, and goes on with FINALLY, or ends.
//!
//! Such a process is resumed here, as a native one is ([`crate::native::ds_native`]), as often as it has to wait.
//!
//! # Why this is sound
//! A process stops at a point where it has left generated code, with all that it owns where its frames say; that code
//! goes on at FINALLY only, which needs nothing of the frame but variables in memory.
#![allow(unsafe_op_in_unsafe_fn)]

use drystone_component::{Body, Owned};

use super::delete::delete_storage;
use super::ending;
use super::owned::Storage;
use crate::home::home;
use crate::instance::*;
use crate::layout::*;
use crate::process::{ds_frame_end, frames, innermost_frame};
use crate::queue::ready;

/// No location in the source.
const NO_LOCATION: u32 = u32::MAX;
/// It isn't known what the process has written.
const EVERYTHING: u64 = u64::MAX;

/// The scheduler has control: a service goes on no further.
pub unsafe fn begin(w: *mut Worker, p: *mut Process) {
    if (*p).lock != LOCK_NONE {
        monitor::ds_unlock(w, p, EVERYTHING);
    }
    (*p).resume = (*home(w)).program.native_shim;
    ready(w, p);
}

/// It has the turn again.
pub unsafe fn go_on(w: *mut Worker, p: *mut Process) {
    loop {
        let frame = frames(p);
        if frame.is_null() {
            break;
        }
        if delete_storage(w, p, Storage::Frame(frame.cast(), (*(*frame).frame).owned.get()), NO_LOCATION)
            == Status::Leave
        {
            return;
        }
        ds_frame_end(w, p, innermost_frame(p));
    }
    let body = body_of(p);
    let owned = if body.finally.is_null() { body.owned.get() } else { temporaries(body) };
    if delete_storage(w, p, Storage::Frame(p.cast(), owned), NO_LOCATION) == Status::Leave {
        return;
    }
    if body.finally.is_null() {
        return ending::ds_finish(w, p, NO_LOCATION);
    }
    (*p.cast::<Communication>()).word.flags |= ENDING;
    (*p).resume = body.finally;
    ready(w, p);
}

/// What a frame owns besides its variables.
fn temporaries(body: &'static Body) -> &'static [Owned] {
    let owned = body.owned.get();
    let first = owned.iter().position(|owned| owned.name.get().is_empty());
    &owned[first.unwrap_or(owned.len())..]
}
