//! A large part of a text shares its bytes: it is a head that holds the whole, and says where the part lies. Its length
//! in the head is 0, so that generated code and [`bytes`](super::bytes) find out that it is a slice where they would
//! fail anyway, and texts that are no slices cost nothing more.
//!
//! A part of a slice is a slice of the whole, so slices don't pile up. A part that is small compared with the whole is
//! copied, so that it doesn't keep much more memory than it needs.
//!
//! # Why this is sound
//! A slice is a holder of the whole, whose bytes are read-only, or change only when there is no other holder. So they
//! stay as they are as long as the slice does.

use core::sync::atomic::Ordering::Acquire;

use super::holding::{HOLDER, bytes, copy, first_byte, holders, is_one};
use super::make_in_parts;
use super::room::Room;
use crate::heap::Heap;
use crate::layout::{Fault, TextHead, TextSlice};
use crate::long::Caller;

/// Shorter parts are copied, which takes no longer, and less memory.
const LEAST: usize = if cfg!(any(test, feature = "exact-memory")) { 4 } else { 256 };
/// A part that is smaller than the whole divided by this is copied.
pub(super) const PARTS: usize = 4;

/// `SLICE(t, from, n)`
///
/// # Safety
/// `text` is null or *a live text*; `heap` is that of the worker of this thread.
#[inline(always)]
pub unsafe fn slice(
    by: Caller,
    heap: *mut Heap,
    text: *mut TextHead,
    from: i64,
    n: i64,
) -> Result<*mut TextHead, Fault> {
    // SAFETY: the text is live, and doesn't change meanwhile.
    let all = unsafe { bytes(text) };
    // What is negative is too large.
    let (from, n) = (from as usize, n as usize);
    if from > all.len() || n > all.len() - from {
        return Err(Fault::IndexOutOfBounds);
    }
    // SAFETY: the part lies inside; the text is live.
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
/// `text` is *a live text*, and `part` one of its bytes; `heap` is that of the worker of this thread.
#[cold]
#[inline(never)]
unsafe fn share(
    by: Caller,
    heap: *mut Heap,
    text: *mut TextHead,
    part: &[u8],
) -> Result<*mut TextHead, Fault> {
    // SAFETY: the whole is live: the text, or what the text holds as a slice. The block of the new one is large enough.
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

/// Replaces the slice in `cell`, which has one holder, by its whole, which then ends where the slice did. `false`: that
/// can't be, because the whole has other holders, or no room to grow, or begins before the slice.
///
/// # Safety
/// `cell` is a text variable that holds a live slice; `heap` is that of the worker of this thread.
#[cold]
#[inline(never)]
pub unsafe fn become_whole(heap: *mut Heap, cell: *mut *mut TextHead) -> bool {
    // SAFETY: a whole with one holder is the slice's alone, and then the variable's. The size of a block with room
    // doesn't depend on the length of its text.
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
