//! Collections: maps from keys to elements whose representation adapts to what is in them.
//!
//! An `{ARRAY}` collection is an [`Array`]. Any other is a [`Store`], of several parts. Where the only index is a
//! number, the **dense part** holds the elements of a range of keys without gaps, and generated code finds these by
//! itself. The **rest** holds the other elements. Few of them are one sorted block, more of them a **hash table**. They
//! become a **B+-tree** when the program first asks for their order, or when they are so many that a larger table would
//! take too long to make (`sorting`). Keys with texts of more than 1 KB have a tree of their own (`oversized`). So
//! finding is logarithmic at most, and so are inserting and removing on average; memory is at most about twice what the
//! elements need.
//!
//! A key next to the dense part extends it, and so do keys that then follow and have waited in the rest. To remove a
//! key in the middle sends the shorter side to the rest if that is short, and else leaves a *gap*: generated code then
//! finds the elements of a part without gaps by itself. Where a third of the keys is missing, the elements go to the
//! rest, some with each removal. Each insertion pays for moving `PAID` elements into the dense part, so that no
//! sequence of operations can make moving expensive; where many elements move at once, other processes run in between
//! (`entries`).
//!
//! Elements move when elements are inserted or removed. A `VARIABLE` parameter that may be used afterwards is therefore
//! not an element's address, but its name (`named`).
//!
//! # Safety of this module: *a collection variable*
//! `cell` is a variable that `collection` describes: null, or what was made here for that description. Only the worker
//! that calls uses it during the call, and `heap` is that worker's. Keys are one word for each index, those of texts
//! null or live texts. Functions with a [`Caller`] let other processes run, which may look at the collection, but not
//! change it; the caller holds no reference to the heap.

mod array;
mod dense;
pub mod entries;
mod gaps;
mod hash;
mod keys;
pub mod named;
mod oversized;
mod rest;
mod shape;
mod sorting;
mod store;
mod tree;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::ControlFlow;
use core::ptr::null_mut;

use drystone_component::{Collection, Kind};

use self::array::Array;
pub use self::keys::LONGEST_HASHED;
use self::keys::{Key, Keys};
use self::shape::Shape;
use self::store::Store;
use crate::heap::Heap;
use crate::layout::{ArrayHead, Fault, Instance, TextHead, is_empty};
use crate::long::Caller;
use crate::text;

/// A hash of a key, the same for equal keys of a collection. Of oversized texts the beginning and the length count.
///
/// # Safety
/// `collection` is a description, and `keys` are the words of a key of such a collection.
pub unsafe fn hash_of_keys(collection: *const Collection, keys: *const u64, seed: u64) -> u64 {
    // SAFETY: the caller promises that `keys` are a key of such a collection.
    unsafe { Keys::new((*collection).keys.get()).hash(Key::new(keys), seed) }
}

/// What a collection variable holds.
enum Content {
    None,
    Array(Array),
    Store(*mut Store),
}

/// What a collection variable holds.
///
/// # Safety
/// It is *a collection variable*, whose shape is `shape`.
#[inline]
unsafe fn content(cell: *mut *mut u8, collection: &Collection, shape: Shape) -> Content {
    // SAFETY: `cell` is a variable.
    let head = unsafe { *cell };
    if head.is_null() {
        Content::None
    } else if collection.array {
        // SAFETY: the array was made for that description.
        let array = unsafe { Array::new(head.cast::<ArrayHead>(), shape.keys.width(), shape.size) };
        Content::Array(array)
    } else {
        Content::Store(head.cast())
    }
}

/// A key as messages show it: `17, "x"`.
///
/// # Safety
/// `keys` are one word for each index, those of texts null or live texts.
pub unsafe fn shown(collection: &Collection, keys: &[u64]) -> String {
    let keys = collection.keys.get().iter().zip(keys).map(|(kind, &key)| match kind {
        // SAFETY: a key of kind Text is a live text or null.
        Kind::Text => shown_text(unsafe { text::bytes(key as *const TextHead) }),
        Kind::Byte if collection.boolean_keys => String::from(if key != 0 { "TRUE" } else { "FALSE" }),
        Kind::Byte => format!("{:?}", key as u8 as char),
        _ => format!("{}", key as i64),
    });
    keys.collect::<Vec<_>>().join(", ")
}

/// So many bytes of a text are shown at most.
const SHOWN: usize = 1 << 10;

fn shown_text(bytes: &[u8]) -> String {
    let (first, more) = bytes.split_at(bytes.len().min(SHOWN));
    format!("{:?}{}", String::from_utf8_lossy(first), if more.is_empty() { "" } else { "..." })
}

/// Makes an `{ARRAY}` collection.
///
/// # Safety
/// `cell` is *a collection variable*.
pub unsafe fn make_array(
    heap: &mut Heap,
    cell: *mut *mut u8,
    collection: &Collection,
    sizes: &[i64],
) -> Result<(), Fault> {
    // SAFETY: the variable is such a collection's.
    unsafe {
        if !(*cell).is_null() {
            return Err(Fault::FullContainer);
        }
        *cell = Array::make(heap, sizes, Shape::of(collection).size)?.cast();
    }
    Ok(())
}

/// The element with a key, or null. Other processes may run between parts of long texts.
///
/// # Safety
/// `cell` is *a collection variable*, and `key` a key of it.
// Inlined, it would have fewer registers, and take a tenth longer.
#[inline(never)]
pub unsafe fn find(by: Caller, cell: *mut *mut u8, collection: &Collection, key: *const u64) -> *mut u8 {
    // SAFETY: shape and key are this collection's, which nobody changes meanwhile.
    let found = unsafe {
        let (shape, key) = (Shape::of(collection), Key::new(key));
        match content(cell, collection, shape) {
            Content::None => None,
            Content::Array(array) => array.find(key),
            Content::Store(store) => (*store).find(by, shape, key),
        }
    };
    found.unwrap_or(null_mut())
}

/// The element with a key, made with zero if it was not there.
///
/// # Safety
/// `cell` is *a collection variable*, and `key` a key of it.
pub unsafe fn insert(
    heap: &mut Heap,
    cell: *mut *mut u8,
    collection: &Collection,
    key: *const u64,
) -> Result<*mut u8, Fault> {
    // SAFETY: `key` is this collection's; where the collection is not settled it isn't null.
    unsafe {
        match try_insert(heap, cell, collection, key) {
            Err(_) if is_oversized(collection, key) => {
                insert_oversized(Caller::HASTY, heap, cell, collection, key)
            }
            Err(_) if !is_settled(cell, collection) => {
                while !settle(heap, cell, collection) {}
                insert_settled(heap, cell, collection, key)
            }
            done => done,
        }
    }
}

/// The same where all elements have moved that shall. Not inlined, so that an insertion that moves none is short.
///
/// # Safety
/// As for [`insert`].
#[cold]
#[inline(never)]
unsafe fn insert_settled(
    heap: &mut Heap,
    cell: *mut *mut u8,
    collection: &Collection,
    key: *const u64,
) -> Result<*mut u8, Fault> {
    // SAFETY: `key` is a key of this collection.
    unsafe { try_insert(heap, cell, collection, key) }
}

/// Whether a key is oversized.
///
/// # Safety
/// `key` is the key of a collection so described.
unsafe fn is_oversized(collection: &Collection, key: *const u64) -> bool {
    // SAFETY: the key is of that shape.
    !collection.array && unsafe { Shape::of(collection).keys.is_oversized(Key::new(key)) }
}

/// The same as [`insert`] for an oversized key, after [`try_insert`].
///
/// # Safety
/// As for [`insert`].
#[cold]
#[inline(never)]
unsafe fn insert_oversized(
    by: Caller,
    heap: *mut Heap,
    cell: *mut *mut u8,
    collection: &Collection,
    key: *const u64,
) -> Result<*mut u8, Fault> {
    // SAFETY: shape and key are this collection's, which nobody else changes.
    unsafe {
        if (*cell).is_null() {
            return Err(Fault::OutOfMemory);
        }
        let (shape, key) = (Shape::of(collection), Key::new(key));
        Store::insert_oversized((*cell).cast(), by, heap, shape, key).ok_or(Fault::OutOfMemory)
    }
}

/// Whether the order of some elements isn't known yet.
///
/// # Safety
/// `cell` is *a collection variable*.
#[inline]
unsafe fn is_unordered(cell: *mut *mut u8, collection: &Collection) -> bool {
    // SAFETY: a collection that is no array is null or a store.
    !collection.array && unsafe { !(*cell).is_null() && (*(*cell).cast::<Store>()).is_unordered() }
}

/// Begins to sort them; the collection isn't settled then.
///
/// # Safety
/// `cell` is *a collection variable*, and [`is_unordered`].
unsafe fn begin_sorting(heap: &mut Heap, cell: *mut *mut u8, collection: &Collection) {
    // SAFETY: the variable holds a store of that shape.
    unsafe { (*(*cell).cast::<Store>()).begin_sorting(heap, Shape::of(collection)) };
}

/// Whether the collection is settled: no elements are to be moved to another part.
///
/// # Safety
/// `cell` is *a collection variable*.
unsafe fn is_settled(cell: *mut *mut u8, collection: &Collection) -> bool {
    // SAFETY: a collection that is no array is null or a store.
    collection.array || unsafe { (*cell).is_null() || (*(*cell).cast::<Store>()).is_settled() }
}

/// Moves some of the elements that are to be moved; whether that is all.
///
/// # Safety
/// `cell` is *a collection variable*, and neither null nor an array.
unsafe fn settle(heap: &mut Heap, cell: *mut *mut u8, collection: &Collection) -> bool {
    // SAFETY: the variable holds a store of that shape.
    unsafe { (*(*cell).cast::<Store>()).settle(heap, Shape::of(collection)) }
}

/// The same as [`insert`], but where many elements are to be moved it is an error, and the collection isn't settled:
/// call [`settle`] until it is, and try again. An oversized key is an error, too: see [`insert_oversized`].
///
/// # Safety
/// As for [`insert`].
#[inline]
unsafe fn try_insert(
    heap: &mut Heap,
    cell: *mut *mut u8,
    collection: &Collection,
    key: *const u64,
) -> Result<*mut u8, Fault> {
    // SAFETY: shape and key are this collection's. A collection that is no array is a store, as soon as it isn't null.
    unsafe {
        let (shape, key) = (Shape::of(collection), Key::new(key));
        if collection.array {
            let Content::Array(array) = content(cell, collection, shape) else {
                return Err(Fault::IndexOutOfBounds);
            };
            return array.find(key).ok_or(Fault::IndexOutOfBounds);
        }
        if (*cell).is_null() {
            *cell = Store::make(heap).ok_or(Fault::OutOfMemory)?.cast();
        }
        (*(*cell).cast::<Store>()).insert(heap, shape, key).ok_or(Fault::OutOfMemory)
    }
}

/// Removes the element with a key; answers whether it was there. What was an element of an array is zero again.
///
/// # Safety
/// `cell` is *a collection variable*, and `key` a key of it. A component in the element is gone already.
pub unsafe fn remove(
    by: Caller,
    heap: *mut Heap,
    cell: *mut *mut u8,
    collection: &Collection,
    key: *const u64,
) -> bool {
    // SAFETY: shape and key are this collection's, which nobody else changes; the word is no element's any more.
    unsafe {
        let (shape, key) = (Shape::of(collection), Key::new(key));
        let removed = match content(cell, collection, shape) {
            Content::None => None,
            Content::Array(array) => array.find(key).map(|element| {
                let word = shape.size.read(element);
                shape.size.write(element, 0);
                word
            }),
            Content::Store(store) if (*store).has_oversized() => {
                Store::remove_among_oversized(store, by, heap, shape, key)
            }
            Content::Store(store) => (*store).remove(&mut *heap, shape, key),
        };
        if let Some(word) = removed {
            shape.drop_word(&mut *heap, word);
        }
        removed.is_some()
    }
}

/// Sets `key` to the smallest key, or to the smallest one above it; answers its element, or null if there is none.
/// Elements of kind Component where there is none are passed over.
///
/// # Safety
/// `cell` is *a collection variable*, and `key` a key of it that holds its texts, before and afterwards.
pub unsafe fn next(
    by: Caller,
    heap: *mut Heap,
    cell: *mut *mut u8,
    collection: &Collection,
    key: *mut u64,
    from: From,
) -> *mut u8 {
    let mut from = from;
    loop {
        // SAFETY: shape and key are this collection's, which nobody changes meanwhile. The key changes at last, when
        // the old one isn't needed any more.
        unsafe {
            let shape = Shape::of(collection);
            let after = (from == From::Key).then(|| Key::new(key));
            let element = match content(cell, collection, shape) {
                Content::None => None,
                Content::Array(array) => next_in_array(array, after, key),
                Content::Store(store) => Store::next(store, by, heap, shape, after, key),
            };
            match element {
                Some(element) if shape.element == Kind::Component && !is_there(element) => from = From::Key,
                Some(element) => return element,
                None => return null_mut(),
            }
        }
    }
}

/// Where to look for the next element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// At the beginning.
    Start,
    /// Above the key.
    Key,
}

/// The same for an array.
///
/// # Safety
/// The words of a key may be written to `key`.
unsafe fn next_in_array(array: Array, after: Option<Key>, key: *mut u64) -> Option<*mut u8> {
    let index = array.after(after);
    if index >= array.count() {
        return None;
    }
    // SAFETY: there is a word for each dimension.
    unsafe { array.key_at(index, key) };
    Some(array.at(index))
}

/// Whether an element is a component.
///
/// # Safety
/// It is an element of kind Component.
unsafe fn is_there(element: *mut u8) -> bool {
    // SAFETY: the element is null or the address of an instance, whose block is there until the element is empty.
    unsafe { !is_empty(*element.cast::<*mut Instance>()) }
}

/// Shows every key and its element, in the order of the keys, until told to stop.
///
/// # Safety
/// `cell` is *a collection variable*, and `show` doesn't change it.
pub unsafe fn visit<B>(
    cell: *mut *mut u8,
    collection: &Collection,
    show: &mut dyn FnMut(&[u64], *mut u8) -> ControlFlow<B>,
) -> ControlFlow<B> {
    // SAFETY: the shape is this collection's.
    unsafe {
        let shape = Shape::of(collection);
        match content(cell, collection, shape) {
            Content::None => ControlFlow::Continue(()),
            Content::Array(array) => array.visit(show),
            Content::Store(store) => (*store).visit(shape, show),
        }
    }
}

/// Shows the containers of a collection of components in the order of the keys, neighbours together: the first, and how
/// many.
///
/// # Safety
/// As for [`visit`].
pub unsafe fn containers(
    cell: *mut *mut u8,
    collection: &Collection,
    show: &mut dyn FnMut(*mut *mut Instance, usize),
) {
    // SAFETY: the shape is this collection's.
    unsafe {
        let shape = Shape::of(collection);
        match content(cell, collection, shape) {
            Content::None => {}
            Content::Array(array) => show(array.at(0).cast(), array.count()),
            Content::Store(store) => (*store).ranges(shape, &mut |first, count| show(first.cast(), count)),
        }
    }
}

/// Frees a collection with all that it holds, and clears its variable.
///
/// # Safety
/// `cell` is *a collection variable*. Components in it are gone already.
pub unsafe fn free(heap: &mut Heap, cell: *mut *mut u8, collection: &Collection) {
    // SAFETY: nobody else uses the collection.
    unsafe { free_until(heap, cell, collection, &mut || false) };
}

/// The same, but only until it is enough, which is asked now and then; whether all is done. What is left is a
/// collection with fewer elements.
///
/// # Safety
/// As for [`free`].
pub unsafe fn free_until(
    heap: &mut Heap,
    cell: *mut *mut u8,
    collection: &Collection,
    is_enough: &mut dyn FnMut() -> bool,
) -> bool {
    // SAFETY: the shape is this collection's, which nobody else uses.
    unsafe {
        let shape = Shape::of(collection);
        let is_done = match content(cell, collection, shape) {
            Content::None => true,
            Content::Array(array) => array.free_until(heap, shape, cell, is_enough),
            // By its own address, with which it was made: the heap looks in front of it.
            Content::Store(_) => Store::free_until((*cell).cast(), heap, shape, is_enough),
        };
        if is_done {
            *cell = null_mut();
        }
        is_done
    }
}
