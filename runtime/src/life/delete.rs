//! The entry points by which generated code deletes: see ENTRY_POINTS.md.
//!
//! # Why this is sound
//! Generated code passes its own worker and process, and what the process or its component owns, with the description.

use core::ptr::null_mut;

use drystone_component::{Collection, Owned, Table};

use super::deletion::drive;
use super::dismantle::{delete_at_once, free_dead};
use super::leaving;
use super::owned::{Owner, Storage};
use super::record::{Customer, Deletion, begin, begin_several};
use crate::communication::connection::must_end_at_home;
use crate::failure::ds_fail;
use crate::home::team;
use crate::layout::*;
use crate::queue::ready;
use crate::visiting::visits;

/// `DELETE`
///
/// # Safety
/// `p` runs on `w`, the home worker, and belongs to the holder of `instance`, which is null, dead or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_delete(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    location: u32,
) -> Status {
    // SAFETY: `p` runs on `w`. Once the instance is dead, only its container leads to it, which `p` empties.
    unsafe {
        if (*team(w)).is_apart && (must_end_at_home(w, p) || visits(w, p, instance)) {
            return Status::Leave;
        }
        if instance.is_null() || (*instance).live & (DELETING | DEAD) == DELETING {
            ds_fail(w, p, Fault::EmptyContainer as u32, location);
            return Status::Leave;
        }
        if (*instance).is_dead() || delete_at_once(w, instance, None) {
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
}

/// The process waits for a deletion, unless it has failed by it.
///
/// # Safety
/// `p` is live, and `d` is the record of a deletion that it wants, under way.
unsafe fn wait(d: *mut Deletion, p: *mut Process, location: u32) -> Status {
    // SAFETY: `p` is live, and `d` is the record of a deletion that it wants, under way.
    unsafe {
        if (*p).status != FAILED {
            (*d).customer = Customer::Process(p, location, true);
            (*p).status = DELETION;
        }
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
    // SAFETY: `p` runs on `w`, the home worker.
    unsafe { delete_storage(w, p, Storage::Frame(Owner::new(base, owned.get())), location) }
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
    // SAFETY: `p` runs on `w`, the home worker.
    unsafe { delete_storage(w, p, Storage::Collection(cell, description), location) }
}

/// Deletes what a process holds.
///
/// # Safety
/// `p` runs on `w`, the home worker, and `storage` is what it or its component owns.
pub unsafe fn delete_storage(w: *mut Worker, p: *mut Process, storage: Storage, location: u32) -> Status {
    // SAFETY: `p` runs on `w`, the home worker, and `storage` belongs to it or to its component.
    unsafe {
        let ranges = storage.containers();
        if ranges.iter().all(|range| range.are_empty()) {
            if storage.free_in_slice(w) {
                return Status::Done;
            }
            // It goes on when the process is there again.
            ready(w, p);
            return Status::Leave;
        }
        // What is lent may be anywhere in what the process or its component holds.
        if (*team(w)).is_apart && (must_end_at_home(w, p) || visits(w, p, (*p).instance)) {
            return Status::Leave;
        }
        if let [range] = ranges[..]
            && let (1, Some(container)) = (range.count(), range.get(0))
            && leaving::leave(w, p, container.get())
        {
            return Status::Leave;
        }
        let d = begin_several(w, p, location, storage, ranges);
        if drive(w, d) { Status::Done } else { wait(d, p, location) }
    }
}
