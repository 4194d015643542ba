//! A part of a text that is large shares its bytes: it is a head that holds the whole, and says where the part lies.
//! Its length as a text's is 0, so that generated code and [`super::bytes`] look here where they would fail anyway, and
//! texts that are no slices cost nothing more.
//!
//! A part of a slice is a part of the whole, so slices don't pile up; and a part that is small beside the whole is
//! copied, so that it doesn't keep much more memory than it needs.
//!
//! # Why this is sound
//! A slice is a holder of the whole, whose bytes don't change while there are others (or are read-only). So they
//! stay where they are for as long as the slice does.

use core::slice;
use core::sync::atomic::Ordering::Acquire;

use super::room::Room;
use super::{HOLDER, copy, drop, first_byte, holders, is_one, make_in_parts};
use crate::heap::Heap;
use crate::layout::{Fault, TextHead, TextSlice};
use crate::long::Caller;

/// Shorter parts are copied: that takes no longer, and less memory.
const LEAST: usize = if cfg!(any(test, feature = "exact-memory")) { 4 } else { 256 };
/// A part that is smaller than one of so many of the whole is copied.
pub(super) const PARTS: usize = 4;

/// `SLICE(t, from, n)`
///
/// # Safety
/// `text` is live or null.
#[inline(always)]
pub unsafe fn slice(
    by: Caller,
    heap: *mut Heap,
    text: *mut TextHead,
    from: i64,
    n: i64,
) -> Result<*mut TextHead, Fault> {
    // SAFETY: as above.
    let all = unsafe { super::bytes(text) };
    // What is negative is too large.
    let (from, n) = (from as usize, n as usize);
    if from > all.len() || n > all.len() - from {
        return Err(Fault::IndexOutOfBounds);
    }
    // SAFETY: as above; it is inside.
    unsafe {
        let part = all.get_unchecked(from..from + n);
        match n {
            n if n == all.len() => Ok(copy(&*heap, text)),
            n if n < LEAST => make_in_parts(by, heap, part),
            _ => share(by, heap, text, part),
        }
    }
}

/// A large part of a text.
///
/// # Safety
/// `text` is live; the part is one of its bytes.
#[cold]
#[inline(never)]
unsafe fn share(
    by: Caller,
    heap: *mut Heap,
    text: *mut TextHead,
    part: &[u8],
) -> Result<*mut TextHead, Fault> {
    // SAFETY: as above.
    unsafe {
        let whole = if (*text).length == 0 { (*text.cast::<TextSlice>()).whole } else { text };
        // Its block may be longer than it is, once it has become a text again that was cut.
        if part.len() < Room::of(whole).bytes_of_live((*whole).length as usize) / PARTS {
            return make_in_parts(by, heap, part);
        }
        let new = (*heap).allocate(size_of::<TextSlice>()) as *mut TextSlice;
        if new.is_null() {
            return Err(Fault::OutOfMemory);
        }
        let head = TextHead { count: HOLDER | i64::from(Room::SLICE.0), length: 0 };
        let whole = copy(&*heap, whole);
        new.write(TextSlice { head, bytes: part.as_ptr(), length: part.len() as u64, whole });
        Ok(new.cast())
    }
}

/// The bytes of a slice.
///
/// # Safety
/// `text` is one, and stays for as long as the result is used.
#[cold]
pub unsafe fn bytes<'a>(text: *const TextHead) -> &'a [u8] {
    // SAFETY: as above.
    unsafe {
        let this = text.cast::<TextSlice>();
        slice::from_raw_parts((*this).bytes, (*this).length as usize)
    }
}

/// Frees a slice, which holds its whole no longer.
///
/// # Safety
/// Nobody holds it any more.
#[cold]
#[inline(never)]
pub unsafe fn free(heap: &mut Heap, text: *mut TextHead) {
    // SAFETY: as above; the whole is no slice.
    unsafe {
        let whole = (*text.cast::<TextSlice>()).whole;
        heap.free(text.cast(), size_of::<TextSlice>());
        drop(heap, whole);
    }
}

/// If nobody but the slice in `cell`, which has one holder, holds its whole, and that has room to grow and begins where
/// the slice does: the whole ends where the slice does, and stands in `cell` instead.
///
/// # Safety
/// `cell` holds a live slice.
#[cold]
#[inline(never)]
pub unsafe fn become_whole(heap: *mut Heap, cell: *mut *mut TextHead) -> bool {
    // SAFETY: as above; a text with one holder is that holder's alone. The block of one with room doesn't depend on its
    // length.
    unsafe {
        let this = (*cell).cast::<TextSlice>();
        let (bytes, length, whole) = ((*this).bytes, (*this).length, (*this).whole);
        let is_alone = is_one(holders(whole).load(Acquire));
        if !is_alone || Room::of(whole) == Room::NONE || bytes != first_byte(whole).cast_const() {
            return false;
        }
        (*whole).length = length;
        (*heap).free(this.cast(), size_of::<TextSlice>());
        *cell = whole;
        true
    }
}
