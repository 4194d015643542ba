//! Records: reference-counted, copy-on-write blocks of several words behind a [`TextHead`]. Whatever can hold a text
//! can hold a record. The words that are texts or records stand first. As with texts, null is the record whose words
//! are all 0, and a block with more than one holder is copied before it is changed.
//!
//! # Safety of this module: *a record variable*
//! `cell` is a variable that holds null or a live record of that [`Shape`], and that nobody else uses during the call;
//! `heap` is that of the worker of this thread.

use core::sync::atomic::Ordering::Acquire;

pub use super::holding::Shape;
use super::holding::{HOLDER, copy, drop, holders, is_one, words};
use super::room::Room;
use crate::heap::Heap;
use crate::layout::{Fault, TextHead};

/// A new record with one holder, whose words are 0.
pub fn make(heap: &mut Heap, shape: Shape) -> Result<*mut TextHead, Fault> {
    let record = heap.allocate_zeroed(shape.bytes()) as *mut TextHead;
    if record.is_null() {
        return Err(Fault::OutOfMemory);
    }
    // SAFETY: the block is new, and larger than the head.
    unsafe { record.write(TextHead { count: HOLDER | i64::from(Room::RECORD.0), length: shape.length() }) };
    Ok(record)
}

/// Makes sure that the record in `cell` isn't null and has no other holder, so that its words may be changed.
///
/// # Safety
/// `cell` is *a record variable*.
pub unsafe fn own(heap: &mut Heap, cell: *mut *mut TextHead, shape: Shape) -> Result<*mut TextHead, Fault> {
    // SAFETY: the record is live until it is dropped, and so are its texts and records, which the new one holds, too.
    unsafe {
        let old = *cell;
        debug_assert!(old.is_null() || Shape::of(old) == shape, "a variable has records of one shape");
        // What other holders read of it has happened before they dropped it.
        if !old.is_null() && is_one(holders(old).load(Acquire)) {
            return Ok(old);
        }
        let new = make(heap, shape)?;
        if !old.is_null() {
            let (from, to) = (words(old), words(new));
            from.copy_to_nonoverlapping(to, shape.words as usize);
            for index in 0..shape.owned as usize {
                copy(heap, *to.add(index) as *mut TextHead);
            }
            drop(heap, old);
        }
        *cell = new;
        Ok(new)
    }
}
