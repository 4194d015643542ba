//! The entry points for collections: see ENTRY_POINTS.md.
//!
//! # Safety of this module: *generated code calls*
//! `p` runs on `w`, the worker of this thread. `cell` is a collection variable that `collection` describes, one that
//! the process may change or, for what changes nothing, read. `keys` points to a word for each index, those of texts
//! null or live texts.

use core::ptr::null_mut;
use core::slice;

use drystone_component::Collection;

use super::{
    From, begin_sorting, find, insert_oversized, insert_settled, is_oversized, is_settled, is_unordered,
    make_array, next, remove, settle, try_insert,
};
use crate::failure::{ds_fail, fail};
use crate::layout::{Fault, Process, Status, Worker};
use crate::long::Caller;
use crate::worker::{Failure, heap_of, let_others_run};

/// `NEW(a, n, m)`
///
/// # Safety
/// *Generated code calls*; `sizes` points to a size for each index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_array_new(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: *const Collection,
    sizes: *const i64,
    location: u32,
) -> Status {
    // SAFETY: *generated code calls*.
    unsafe {
        let sizes = slice::from_raw_parts(sizes, (*collection).keys.length);
        match make_array(&mut *heap_of(w), cell, &*collection, sizes) {
            Ok(()) => Status::Done,
            Err(fault) => {
                ds_fail(w, p, fault as u32, location);
                Status::Leave
            }
        }
    }
}

/// The element with these keys, or null.
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_find(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: *const Collection,
    keys: *const u64,
) -> *mut u8 {
    // SAFETY: *generated code calls*.
    unsafe { find(Caller::new(w, p), cell, &*collection, keys) }
}

/// The element with these keys, made if it was not there.
///
/// # Safety
/// *Generated code calls.*
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_insert(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: *const Collection,
    keys: *const u64,
    location: u32,
) -> *mut u8 {
    // SAFETY: *generated code calls*.
    unsafe {
        insert_in_parts(w, p, cell, &*collection, keys).unwrap_or_else(|fault| {
            ds_fail(w, p, fault as u32, location);
            null_mut()
        })
    }
}

/// The same. If many elements have to move, or texts of the key are long, other processes run in between: the
/// collection is as good as ever then, and they don't change it.
///
/// # Safety
/// *Generated code calls.*
#[inline]
pub(super) unsafe fn insert_in_parts(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: &Collection,
    keys: *const u64,
) -> Result<*mut u8, Fault> {
    // SAFETY: *generated code calls*; the heap is borrowed only while no other process runs.
    unsafe {
        match try_insert(&mut *heap_of(w), cell, collection, keys) {
            Err(_) if is_oversized(collection, keys) => {
                insert_oversized(Caller::new(w, p), heap_of(w), cell, collection, keys)
            }
            Err(_) if !is_settled(cell, collection) => {
                settle_in_parts(w, p, cell, collection);
                insert_settled(&mut *heap_of(w), cell, collection, keys)
            }
            done => done,
        }
    }
}

/// Moves the elements that shall move; other processes run in between.
///
/// # Safety
/// *Generated code calls*; the collection isn't settled.
#[cold]
#[inline(never)]
unsafe fn settle_in_parts(w: *mut Worker, p: *mut Process, cell: *mut *mut u8, collection: &Collection) {
    // SAFETY: *generated code calls*; the heap is borrowed only while no other process runs.
    unsafe {
        while !settle(&mut *heap_of(w), cell, collection) {
            let_others_run(w, p);
        }
    }
}

/// The elements get the order in which they are visited; other processes run in between, and may visit them, too.
///
/// # Safety
/// *Generated code calls*; the collection [`is_unordered`].
#[cold]
#[inline(never)]
unsafe fn sort_in_parts(w: *mut Worker, p: *mut Process, cell: *mut *mut u8, collection: &Collection) {
    // SAFETY: *generated code calls*.
    unsafe {
        begin_sorting(&mut *heap_of(w), cell, collection);
        settle_in_parts(w, p, cell, collection);
    }
}

/// The element with this key of one or two words is not there, but should be.
///
/// # Safety
/// `p` runs on `w`, the worker of this thread, and leaves after this call; the words are a key of a collection so
/// described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_missing(
    w: *mut Worker,
    p: *mut Process,
    collection: &Collection,
    first: u64,
    second: u64,
    location: u32,
) {
    let fault = if collection.array { Fault::IndexOutOfBounds } else { Fault::MissingElement };
    // SAFETY: as many of the words as there are indices are a key; `p` runs on `w`, and leaves.
    unsafe {
        let key = super::shown(collection, &[first, second]);
        fail(w, Failure { key, ..Failure::of(p, fault, location) });
    }
}

/// Removes the element with these keys; 0 if it was not there.
///
/// # Safety
/// *Generated code calls.* A component has been taken out of the element before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_remove(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: *const Collection,
    keys: *const u64,
) -> u32 {
    // SAFETY: *generated code calls*.
    u32::from(unsafe { remove(Caller::new(w, p), heap_of(w), cell, &*collection, keys) })
}

/// Sets the keys to the first, or the next ones, and gives their element; null if there are none.
///
/// # Safety
/// *Generated code calls*; the keys hold their texts, before and afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_next(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: *const Collection,
    keys: *mut u64,
    first: u32,
) -> *mut u8 {
    let from = if first == 0 { From::Key } else { From::Start };
    // SAFETY: *generated code calls*.
    unsafe {
        if first != 0 && is_unordered(cell, &*collection) {
            sort_in_parts(w, p, cell, &*collection);
        }
        next(Caller::new(w, p), heap_of(w), cell, &*collection, keys, from)
    }
}
