//! Elements of collections that conditions read: generated code tells which a condition reads, and which are written.
//!
//! # Why this is sound
//! A process that is away only touches its own block. A process with the lock at whose monitor another one is queued
//! has a component with a rare part.

use drystone_component::Collection;

use super::rare_there;
use crate::collection;
use crate::layout::*;

/// The condition that is being tested reads an element.
///
/// # Safety
/// Called by the condition of `p`, which somebody awaits; the rest as for `ds_find`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_watch(
    _w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: *const Collection,
    keys: *const u64,
) {
    // SAFETY: a process that tests a condition has no reference to what is awaited.
    unsafe {
        let element = element(cell, collection, keys);
        (*rare_there((*p).instance)).awaiting.reads(element);
    }
}

/// An element is written that conditions may watch, and somebody is queued at the monitor.
///
/// # Safety
/// `p` runs on `w`, and somebody is queued at its component's monitor; the rest as for `ds_find`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_wrote(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: *const Collection,
    keys: *const u64,
) {
    // SAFETY: `p` runs on `w`; at home it may reach its component.
    unsafe {
        if (*p).lock & LOCK_EXCLUSIVE == 0 {
            return;
        }
        if (*w).away != 0 {
            (*p).lock |= LOCK_WROTE;
            return;
        }
        let element = element(cell, collection, keys);
        (*rare_there((*p).instance)).awaiting.wrote(element);
    }
}

/// What stands for an element: not 0, and the same for the same element.
///
/// # Safety
/// As for `ds_find`.
unsafe fn element(cell: *mut *mut u8, collection: *const Collection, keys: *const u64) -> u64 {
    // SAFETY: `collection` describes `cell`, and there are as many keys as it says.
    unsafe { collection::hash_of_keys(collection, keys, cell.addr() as u64).max(1) }
}
