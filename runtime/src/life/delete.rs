//! The entry points by which generated code deletes: see ENTRY_POINTS.md.
//!
//! # Why this is sound
//! Generated code passes its own worker and process, and what the process or its component owns, with its description.
#![allow(unsafe_op_in_unsafe_fn)]

use core::ptr::null_mut;

use drystone_component::{Collection, Owned, Table};

use super::deletion::{delete_at_once, drive};
use super::dismantle::free_dead;
use super::leaving;
use super::owned::{Storage, is_empty};
use super::record::{Customer, Deletion, begin, begin_several};
use crate::failure::ds_fail;
use crate::layout::*;
use crate::queue::ready;

/// `DELETE`
///
/// # Safety
/// `p` runs on `w`, the home worker and belongs to the holder of `instance`, which is null, dead or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_delete(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    location: u32,
) -> Status {
    if instance.is_null() || (*instance).live & (DELETING | DEAD) == DELETING {
        ds_fail(w, p, Fault::EmptyContainer as u32, location);
        return Status::Leave;
    }
    if (*instance).live & DEAD != 0 || delete_at_once(w, instance, None) {
        free_dead(w, instance);
        return Status::Done;
    }
    if leaving::leave(w, p, instance) {
        return Status::Leave;
    }
    let d = begin(w, instance, null_mut(), Customer::Process(p, location, false));
    if drive(w, d) {
        free_dead(w, instance);
        return Status::Done;
    }
    wait(d, p, location)
}

/// The process waits for a deletion, unless it has failed by it.
unsafe fn wait(d: *mut Deletion, p: *mut Process, location: u32) -> Status {
    if (*p).status != FAILED {
        (*d).customer = Customer::Process(p, location, true);
        (*p).status = DELETION;
    }
    Status::Leave
}

/// What a frame holds is deleted, its texts and collections are dropped.
///
/// # Safety
/// `p` runs on `w`, the home worker; `base` is its block or its innermost frame, and owns what `owned` says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_delete_held(
    w: *mut Worker,
    p: *mut Process,
    base: *mut u8,
    owned: &'static Table<Owned>,
    location: u32,
) -> Status {
    delete_storage(w, p, Storage::Frame(base, owned.get()), location)
}

/// `DELETE` of a whole collection.
///
/// # Safety
/// `p` runs on `w`, the home worker; `cell` is a collection variable of its own or of its component that
/// `description` describes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_delete_collection(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    description: &'static Collection,
    location: u32,
) -> Status {
    delete_storage(w, p, Storage::Collection(cell, description), location)
}

pub unsafe fn delete_storage(w: *mut Worker, p: *mut Process, storage: Storage, location: u32) -> Status {
    let ranges = storage.containers();
    if ranges.iter().all(|&range| is_empty(range)) {
        if storage.free_in_slice(w) {
            return Status::Done;
        }
        // It goes on when the process is there again.
        ready(w, p);
        return Status::Leave;
    }
    match ranges[..] {
        [(cell, 1)] if leaving::leave(w, p, *cell) => return Status::Leave,
        _ => {}
    }
    let d = begin_several(w, p, location, storage, ranges);
    if drive(w, d) { Status::Done } else { wait(d, p, location) }
}
