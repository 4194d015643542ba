//! Texts: immutable byte strings that count their holders, so that assigning one copies nothing. The only holder of a
//! text may change it in place. Knows nothing of processes; generated code comes in through [`entries`].
//!
//! # Why this is sound
//! A text is freed when its last holder drops it, and each pointer handed in belongs to a holder who stays while
//! the call lasts. Bytes change only through [`make_unique`], when there is no other holder who could look. While
//! the heap is shared between workers ([`Heap::is_shared`]), counts change atomically, and the last one to drop a
//! text has seen all that the others did with it.

pub mod entries;

use core::cmp::Ordering;
use core::ptr::{self, null_mut};
use core::slice;
use core::sync::atomic::{AtomicI64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed};

use crate::heap::Heap;
use crate::layout::{Fault, TEXT_BYTES, TextHead, Worker};
use crate::worker::heap_of;

/// The bytes of a text.
///
/// # Safety
/// `text` is live (or null) and stays unchanged for as long as the result is used.
#[inline]
pub unsafe fn bytes<'a>(text: *const TextHead) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: as above.
    unsafe { slice::from_raw_parts(first_byte(text), (*text).length as usize) }
}

/// A new text with one holder.
pub fn make(heap: &mut Heap, bytes: &[u8]) -> Result<*mut TextHead, Fault> {
    join(heap, bytes, &[])
}

/// A new text for a native component, which knows its worker only.
///
/// # Safety
/// `worker` is the one of this thread.
pub unsafe fn from_bytes(worker: *mut Worker, bytes: &[u8]) -> Result<*mut TextHead, Fault> {
    // SAFETY: as above.
    make(unsafe { &mut *heap_of(worker) }, bytes)
}

/// A new text of `length` bytes 0X.
pub fn make_zeroed(heap: &mut Heap, length: usize) -> Result<*mut TextHead, Fault> {
    let text = allocate(heap, length)?;
    if !text.is_null() {
        // SAFETY: fresh and of that length.
        unsafe { ptr::write_bytes(first_byte(text), 0, length) };
    }
    Ok(text)
}

/// A new text that consists of two parts.
pub fn join(heap: &mut Heap, a: &[u8], b: &[u8]) -> Result<*mut TextHead, Fault> {
    let text = allocate(heap, a.len().saturating_add(b.len()))?;
    if !text.is_null() {
        // SAFETY: fresh and of the length of both.
        unsafe {
            ptr::copy_nonoverlapping(a.as_ptr(), first_byte(text), a.len());
            ptr::copy_nonoverlapping(b.as_ptr(), first_byte(text).add(a.len()), b.len());
        }
    }
    Ok(text)
}

/// One more holder of the same text.
///
/// # Safety
/// `text` is live or null.
#[inline]
pub unsafe fn copy(heap: &Heap, text: *mut TextHead) -> *mut TextHead {
    if !text.is_null() {
        // SAFETY: as above.
        let count = unsafe { holders(text) };
        let now = count.load(Relaxed);
        if now >= 0 {
            if heap.is_shared() {
                count.fetch_add(1, Relaxed);
            } else {
                count.store(now + 1, Relaxed);
            }
        }
    }
    text
}

/// One holder less.
///
/// # Safety
/// `text` is live or null; the caller held it and forgets it.
#[inline]
pub unsafe fn drop(heap: &mut Heap, text: *mut TextHead) {
    if text.is_null() {
        return;
    }
    // SAFETY: as above.
    let count = unsafe { holders(text) };
    let now = count.load(Relaxed);
    if now < 0 {
        return;
    }
    let was_last = if heap.is_shared() {
        count.fetch_sub(1, AcqRel) == 1
    } else {
        count.store(now - 1, Relaxed);
        now == 1
    };
    if was_last {
        // SAFETY: nobody holds it any more.
        unsafe { heap.free(text.cast(), TEXT_BYTES + (*text).length as usize) };
    }
}

/// `a + b`
///
/// # Safety
/// Both are live or null.
pub unsafe fn concat(heap: &mut Heap, a: *mut TextHead, b: *mut TextHead) -> Result<*mut TextHead, Fault> {
    // SAFETY: as above.
    unsafe {
        match (a.is_null(), b.is_null()) {
            (_, true) => Ok(copy(heap, a)),
            (true, _) => Ok(copy(heap, b)),
            _ => join(heap, bytes(a), bytes(b)),
        }
    }
}

/// `SLICE(t, from, n)`
///
/// # Safety
/// `text` is live or null.
pub unsafe fn slice(heap: &mut Heap, text: *mut TextHead, from: i64, n: i64) -> Result<*mut TextHead, Fault> {
    // SAFETY: as above.
    let all = unsafe { bytes(text) };
    let part = position(from).zip(position(n)).and_then(|(from, n)| all.get(from..)?.get(..n));
    match part.ok_or(Fault::IndexOutOfBounds)? {
        // SAFETY: as above.
        part if part.len() == all.len() => Ok(unsafe { copy(heap, text) }),
        part => make(heap, part),
    }
}

/// `FIND(t, part, from)`
///
/// # Safety
/// Both are live or null.
pub unsafe fn find(text: *const TextHead, part: *const TextHead, from: i64) -> Result<i64, Fault> {
    // SAFETY: as above.
    let (all, part) = unsafe { (bytes(text), bytes(part)) };
    let rest = position(from).and_then(|from| all.get(from..)).ok_or(Fault::IndexOutOfBounds)?;
    Ok(memchr::memmem::find(rest, part).map_or(-1, |found| from + found as i64))
}

/// `t[i] := x`
///
/// # Safety
/// `cell` holds a live text or null.
pub unsafe fn set(heap: &mut Heap, cell: *mut *mut TextHead, index: i64, byte: u8) -> Result<(), Fault> {
    // SAFETY: as above.
    unsafe {
        let length = bytes(*cell).len();
        let index = position(index).filter(|&index| index < length).ok_or(Fault::IndexOutOfBounds)?;
        let text = make_unique(heap, cell)?;
        first_byte(text).add(index).write(byte);
    }
    Ok(())
}

/// Makes sure that the text in `cell` has no other holder, so that it may be changed.
///
/// # Safety
/// `cell` holds a live text that is not empty.
unsafe fn make_unique(heap: &mut Heap, cell: *mut *mut TextHead) -> Result<*mut TextHead, Fault> {
    // SAFETY: as above; a text with one holder is that holder's alone.
    unsafe {
        let text = *cell;
        if holders(text).load(Acquire) != 1 {
            *cell = make(heap, bytes(text))?;
            drop(heap, text);
        }
        Ok(*cell)
    }
}

/// Order by unsigned bytes.
///
/// # Safety
/// Both are live or null.
#[inline]
pub unsafe fn compare(a: *const TextHead, b: *const TextHead) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    // SAFETY: as above.
    unsafe { bytes(a).cmp(bytes(b)) }
}

fn position(n: i64) -> Option<usize> {
    usize::try_from(n).ok()
}

/// Where the first byte is, or would be.
#[inline]
fn first_byte(text: *const TextHead) -> *mut u8 {
    text.wrapping_add(1).cast_mut().cast()
}

/// Null for length 0.
fn allocate(heap: &mut Heap, length: usize) -> Result<*mut TextHead, Fault> {
    if length == 0 {
        return Ok(null_mut());
    }
    let text = heap.allocate(TEXT_BYTES.saturating_add(length)) as *mut TextHead;
    if text.is_null() {
        return Err(Fault::OutOfMemory);
    }
    // SAFETY: fresh, and larger than the head.
    unsafe { text.write(TextHead { count: 1, length: length as u64 }) };
    Ok(text)
}

/// # Safety
/// `text` is live.
#[inline]
unsafe fn holders<'a>(text: *mut TextHead) -> &'a AtomicI64 {
    // SAFETY: as above. Read-only texts are only loaded from.
    unsafe { AtomicI64::from_ptr(&raw mut (*text).count) }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
