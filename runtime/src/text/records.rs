//! Records: values of several words, which are held, copied and dropped as texts are, so all that keeps a text can keep
//! a record. A block has a [`TextHead`] and the record's words; those that are texts or records stand first. As with
//! texts, null is the record whose words are all 0, and only the only holder of a block changes it.
//!
//! # Safety of this module: *a record variable*
//! `cell` is a variable that holds null or a live record of that [`Shape`], and that nobody else uses during the call;
//! `heap` is that of the worker of this thread.

use core::sync::atomic::Ordering::Acquire;

use super::holding::{HOLDER, copy, drop, first_byte, holders, is_one};
use super::room::Room;
use crate::heap::Heap;
use crate::layout::{Fault, TEXT_BYTES, TextHead};

/// How many words a record has, and how many of the first of them are texts or records. [`TextHead::length`] of its
/// block says so, too; it is never 0, which would be a slice's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// All of them, at least one.
    pub words: u32,
    /// The texts and records among them.
    pub owned: u32,
}

impl Shape {
    /// The shape of a record that isn't null.
    ///
    /// # Safety
    /// `record` is a live record.
    unsafe fn of(record: *const TextHead) -> Shape {
        // SAFETY: the head of a live record doesn't change.
        let length = unsafe { (*record).length };
        Shape { words: length as u32, owned: (length >> 32) as u32 }
    }

    fn bytes(self) -> usize {
        TEXT_BYTES + 8 * self.words as usize
    }
}

/// A new record with one holder, whose words are 0.
pub fn make(heap: &mut Heap, shape: Shape) -> Result<*mut TextHead, Fault> {
    let record = heap.allocate_zeroed(shape.bytes()) as *mut TextHead;
    if record.is_null() {
        return Err(Fault::OutOfMemory);
    }
    let length = u64::from(shape.words) | u64::from(shape.owned) << 32;
    // SAFETY: the block is new, and larger than the head.
    unsafe { record.write(TextHead { count: HOLDER | i64::from(Room::RECORD.0), length }) };
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

/// The first word of a record.
pub fn words(record: *const TextHead) -> *mut u64 {
    first_byte(record).cast()
}

/// Frees a record, which holds its texts and records no longer. Records contain no more than a few levels of others:
/// the language bounds them.
///
/// # Safety
/// It is a record that nobody holds any more.
#[cold]
#[inline(never)]
pub unsafe fn free(heap: &mut Heap, record: *mut TextHead) {
    // SAFETY: the record held each of its texts and records until now.
    unsafe {
        let shape = Shape::of(record);
        for index in 0..shape.owned as usize {
            drop(heap, *words(record).add(index) as *mut TextHead);
        }
        heap.free(record.cast(), shape.bytes());
    }
}
