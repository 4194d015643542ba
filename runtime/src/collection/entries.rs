//! The entry points for collections: see ENTRY_POINTS.md.
//!
//! # Safety
//! Generated code passes its own worker and process, its collection variables with their descriptors, and one word for
//! each index. That is what all of these functions rely on.
#![allow(unsafe_op_in_unsafe_fn)]

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
/// `p` runs on `w`; `cell` is a collection variable that `collection` describes, and `sizes` points to a size for
/// each index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_array_new(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: *const Collection,
    sizes: *const i64,
    location: u32,
) -> Status {
    let sizes = slice::from_raw_parts(sizes, (*collection).keys.length);
    match make_array(&mut *heap_of(w), cell, &*collection, sizes) {
        Ok(()) => Status::Done,
        Err(fault) => {
            ds_fail(w, p, fault as u32, location);
            Status::Leave
        }
    }
}

/// The element with these keys, or null.
///
/// # Safety
/// `p` runs on `w`; `cell` is a collection variable that `collection` describes; `keys` points to a word for each
/// index, texts alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_find(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: *const Collection,
    keys: *const u64,
) -> *mut u8 {
    find(Caller::new(w, p), cell, &*collection, keys)
}

/// The element with these keys, made if it was not there.
///
/// # Safety
/// As for [`ds_find`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_insert(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: *const Collection,
    keys: *const u64,
    location: u32,
) -> *mut u8 {
    insert_in_parts(w, p, cell, &*collection, keys).unwrap_or_else(|fault| {
        ds_fail(w, p, fault as u32, location);
        null_mut()
    })
}

/// The same. If many elements have to move, or texts of the key are long, others run in between: the collection is as
/// good as ever then, and nobody else may change it.
#[inline]
pub(super) unsafe fn insert_in_parts(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: &Collection,
    keys: *const u64,
) -> Result<*mut u8, Fault> {
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

#[cold]
#[inline(never)]
unsafe fn settle_in_parts(w: *mut Worker, p: *mut Process, cell: *mut *mut u8, collection: &Collection) {
    while !settle(&mut *heap_of(w), cell, collection) {
        let_others_run(w, p);
    }
}

/// The elements get the order in which they are visited; others run in between, and may visit them too.
#[cold]
#[inline(never)]
unsafe fn sort_in_parts(w: *mut Worker, p: *mut Process, cell: *mut *mut u8, collection: &Collection) {
    begin_sorting(&mut *heap_of(w), cell, collection);
    settle_in_parts(w, p, cell, collection);
}

/// The element with this key of one or two words is not there, but should be.
///
/// # Safety
/// `p` runs on `w`, and leaves after this call; the words are a key of a collection so described.
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
    let key = super::shown(collection, &[first, second]);
    fail(w, Failure { key, ..Failure::of(p, fault, location) });
}

/// Removes the element with these keys; 0 if it was not there.
///
/// # Safety
/// As for [`ds_find`]. A component has been taken out of the element before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_remove(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: *const Collection,
    keys: *const u64,
) -> u32 {
    u32::from(remove(Caller::new(w, p), heap_of(w), cell, &*collection, keys))
}

/// Sets the keys to the first, or the next ones; 0 if there are none.
///
/// # Safety
/// As for [`ds_find`], and the keys hold their texts unless `first` is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_next(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: *const Collection,
    keys: *mut u64,
    first: u32,
) -> u32 {
    if first != 0 && is_unordered(cell, &*collection) {
        sort_in_parts(w, p, cell, &*collection);
    }
    let from = if first == 0 { From::Key } else { From::Start };
    u32::from(!next(Caller::new(w, p), heap_of(w), cell, &*collection, keys, from).is_null())
}
