//! The entry points for collections: see ENTRY_POINTS.md.
//!
//! # Safety
//! Generated code passes its own worker and process, its collection variables with their descriptors, and one word for
//! each index. That is what all of these functions rely on.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::vec::Vec;
use core::ptr::null_mut;
use core::slice;

use drystone_component::Collection;

use super::keys::{Asked, Key};
use super::{
    From, Shape, begin_sorting, find, find_as, insert_settled, is_settled, is_unordered, long_texts,
    make_array, next, next_as, remove, remove_as, settle, try_insert,
};
use crate::failure::{ds_fail, fail};
use crate::layout::{Fault, Process, Status, Worker};
use crate::long::Caller;
use crate::text;
use crate::worker::{Failure, heap_of, let_others_run};

/// What is to be known of long texts before a key with some of them is found, made or removed. The collection is as it was; others
/// have run meanwhile, but nobody else may change it.
#[cold]
#[inline(never)]
unsafe fn ask(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: &Collection,
    key: Key,
) -> Asked {
    let mut asked = Asked::new();
    loop {
        find_as(cell, collection, Shape::of(collection).asking(&raw mut asked), key);
        let Some((a, b)) = asked.wanted.take() else { break };
        for text in [a, b] {
            text::copy(&*heap_of(w), text);
        }
        asked.tell(a, b, text::compare(Caller::new(w, p), a, b));
        for text in [a, b] {
            text::drop(&mut *heap_of(w), text);
        }
    }
    asked.end_search();
    asked
}

#[inline]
unsafe fn is_long(collection: &Collection, key: Key) -> bool {
    Shape::of(collection).keys.is_long(key)
}

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
/// `cell` is a collection variable that `collection` describes; `keys` points to a word for each index, texts
/// alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_find(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: *const Collection,
    keys: *const u64,
) -> *mut u8 {
    find_in_parts(w, p, cell, &*collection, keys)
}

/// The same.
#[inline]
pub(super) unsafe fn find_in_parts(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: &Collection,
    keys: *const u64,
) -> *mut u8 {
    if is_long(collection, keys) {
        find_long(w, p, cell, collection, keys)
    } else {
        find(cell, collection, keys)
    }
}

#[cold]
#[inline(never)]
unsafe fn find_long(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: &Collection,
    keys: *const u64,
) -> *mut u8 {
    let mut asked = ask(w, p, cell, collection, keys);
    find_as(cell, collection, Shape::of(collection).asking(&raw mut asked), keys)
}

/// The element with these keys, made if it was not there.
///
/// # Safety
/// As for [`ds_find`]; `p` runs on `w`.
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

/// The same. If many elements have to move, others run in between: the collection is as good as ever then, and nobody else
/// may change it.
#[inline]
pub(super) unsafe fn insert_in_parts(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: &Collection,
    keys: *const u64,
) -> Result<*mut u8, Fault> {
    if is_long(collection, keys) {
        return insert_long(w, p, cell, collection, keys);
    }
    match try_insert(&mut *heap_of(w), cell, collection, Shape::of(collection), keys) {
        Err(_) if !is_settled(cell, collection) => {
            settle_in_parts(w, p, cell, collection);
            insert_settled(&mut *heap_of(w), cell, collection, Shape::of(collection), keys)
        }
        done => done,
    }
}

#[cold]
#[inline(never)]
unsafe fn insert_long(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: &Collection,
    keys: *const u64,
) -> Result<*mut u8, Fault> {
    loop {
        let mut asked = ask(w, p, cell, collection, keys);
        let shape = Shape::of(collection).asking(&raw mut asked);
        match insert_settled(&mut *heap_of(w), cell, collection, shape, keys) {
            Err(_) if !is_settled(cell, collection) => settle_in_parts(w, p, cell, collection),
            done => return done,
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn settle_in_parts(w: *mut Worker, p: *mut Process, cell: *mut *mut u8, collection: &Collection) {
    let mut asked = order_of_long_texts(w, p, cell, collection);
    let shape = Shape::of(collection).asking(&raw mut asked);
    while !settle(&mut *heap_of(w), cell, shape) {
        let_others_run(w, p);
    }
}

/// The order of the long texts among keys that are to be brought in order. The collection is as it was, or is in order: others
/// have run meanwhile, but nobody else may change it.
unsafe fn order_of_long_texts(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: &Collection,
) -> Asked {
    let (shape, by) = (Shape::of(collection), Caller::new(w, p));
    let mut texts = Vec::new();
    let mut next = shape.keys.have_texts().then_some(0);
    while let Some(from) = next {
        next = long_texts(cell, shape, from, &mut |text| texts.push(text::copy(&*heap_of(w), text)));
        let_others_run(w, p);
    }
    texts.sort_by(|&a, &b| text::compare(by, a, b));
    let asked = Asked::in_order(by, &texts);
    for text in texts {
        text::drop(&mut *heap_of(w), text);
    }
    asked
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
/// As for [`ds_find`]; `w` is the worker of this thread. A component has been taken out of the element before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_remove(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: *const Collection,
    keys: *const u64,
) -> u32 {
    u32::from(remove_in_parts(w, p, cell, &*collection, keys))
}

/// The same.
#[inline]
pub(super) unsafe fn remove_in_parts(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: &Collection,
    keys: *const u64,
) -> bool {
    if is_long(collection, keys) {
        return remove_long(w, p, cell, collection, keys);
    }
    remove(&mut *heap_of(w), cell, collection, keys)
}

#[cold]
#[inline(never)]
unsafe fn remove_long(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: &Collection,
    keys: *const u64,
) -> bool {
    let mut asked = ask(w, p, cell, collection, keys);
    remove_as(&mut *heap_of(w), cell, collection, Shape::of(collection).asking(&raw mut asked), keys)
}

/// Sets the keys to the first, or the next ones; 0 if there are none.
///
/// # Safety
/// As for [`ds_find`]; `p` runs on `w`, the worker of this thread, and the keys hold their texts unless `first` is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_next(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: *const Collection,
    keys: *mut u64,
    first: u32,
) -> u32 {
    let collection = &*collection;
    let heap = heap_of(w);
    if first != 0 {
        if is_unordered(cell, collection) {
            sort_in_parts(w, p, cell, collection);
        }
        let shape = Shape::of(collection);
        return u32::from(!next_as(&mut *heap, cell, collection, shape, keys, From::Start).is_null());
    }
    if is_long(collection, keys) {
        return next_long(w, p, cell, collection, keys);
    }
    u32::from(!next(&mut *heap, cell, collection, keys, From::Key).is_null())
}

#[cold]
#[inline(never)]
unsafe fn next_long(
    w: *mut Worker,
    p: *mut Process,
    cell: *mut *mut u8,
    collection: &Collection,
    keys: *mut u64,
) -> u32 {
    let mut asked = ask(w, p, cell, collection, keys);
    let shape = Shape::of(collection).asking(&raw mut asked);
    u32::from(!next_as(&mut *heap_of(w), cell, collection, shape, keys, From::Key).is_null())
}
