//! The entry points by which generated code deletes: see ENTRY_POINTS.md.
//!
//! # Why this is sound
//! Generated code passes its own worker and process, and what the process or its component owns, with its description.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::vec::Vec;
use core::ptr::null_mut;

use drystone_component::{Collection, Owned, Table};

use super::deletion::{delete_at_once, drive};
use super::dismantle::free_dead;
use super::leaving;
use super::owned::{Range, containers_in, containers_of, drop_in_slice, is_empty};
use super::record::{Customer, Deletion, begin, begin_several};
use crate::collection;
use crate::failure::ds_fail;
use crate::layout::*;
use crate::queue::ready;
use crate::worker::{heap_of, slice_is_over};

/// `DELETE`
///
/// # Safety
/// `p` runs on `w`, the home worker and belongs to the holder of `instance`, which is null, dead or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_delete(
    w: *mut Worker,
    p: *mut Process,
    instance: *mut Instance,
    place: u32,
) -> Status {
    if instance.is_null() || (*instance).live & (DELETING | DEAD) == DELETING {
        ds_fail(w, p, Fault::EmptyContainer as u32, place);
        return Status::Leave;
    }
    if (*instance).live & DEAD != 0 || delete_at_once(w, instance, None) {
        free_dead(w, instance);
        return Status::Done;
    }
    if leaving::leave(w, p, instance) {
        return Status::Leave;
    }
    let d = begin(instance, null_mut(), Customer::Process(p, place, false));
    if drive(w, d) {
        free_dead(w, instance);
        return Status::Done;
    }
    wait(d, p, place)
}

/// The process waits for a deletion, unless it has failed by it.
unsafe fn wait(d: *mut Deletion, p: *mut Process, place: u32) -> Status {
    if (*p).status != FAILED {
        (*d).customer = Customer::Process(p, place, true);
        (*p).status = DELETION;
        (*p).next = d.cast();
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
    owned: &Table<Owned>,
    place: u32,
) -> Status {
    let mut ranges = Vec::new();
    containers_of(base, owned.get(), |range| ranges.push(range));
    if delete_containers(w, p, ranges, place) == Status::Leave {
        return Status::Leave;
    }
    unless_slice_ends(w, p, drop_in_slice(w, base, owned.get()))
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
    description: &Collection,
    place: u32,
) -> Status {
    let mut ranges = Vec::new();
    containers_in(cell, description, |range| ranges.push(range));
    if delete_containers(w, p, ranges, place) == Status::Leave {
        return Status::Leave;
    }
    let mut is_enough = || slice_is_over(w);
    unless_slice_ends(w, p, collection::free_until(&mut *heap_of(w), cell, description, &mut is_enough))
}

unsafe fn delete_containers(w: *mut Worker, p: *mut Process, ranges: Vec<Range>, place: u32) -> Status {
    if ranges.iter().all(|&range| is_empty(range)) {
        return Status::Done;
    }
    match ranges[..] {
        [(cell, 1)] if leaving::leave(w, p, *cell) => return Status::Leave,
        _ => {}
    }
    let d = begin_several(p, place, ranges);
    if drive(w, d) { Status::Done } else { wait(d, p, place) }
}

/// What is not done goes on when the process is there again: nothing is in its way meanwhile.
unsafe fn unless_slice_ends(w: *mut Worker, p: *mut Process, is_done: bool) -> Status {
    if is_done {
        return Status::Done;
    }
    ready(w, p);
    Status::Leave
}
