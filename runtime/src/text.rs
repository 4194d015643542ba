//! Texts: immutable byte strings that count their holders, so that assigning one copies nothing. The only holder of a
//! text may change it in place, and make it longer: then it gets room for more than it needs, so that putting a text
//! together piece by piece costs no more than its bytes ([`changes`]). A large part of a text shares its bytes
//! ([`slices`]). Knows nothing of processes; generated code comes in through [`entries`].
//!
//! # Why this is sound
//! A text is freed when its last holder drops it, and each pointer handed in belongs to a holder who stays while
//! the call lasts. Bytes change only in [`changes`], when there is no other holder who could look; a slice is a holder
//! of the text whose bytes it shares. While the heap is shared between workers ([`Heap::is_shared`]), counts change
//! atomically, and the last one to drop a text has seen all that the others did with it. Where others run within a call
//! (see the long module), no reference to the heap is held.

mod changes;
pub mod entries;
mod numbers;
mod room;
mod short;
mod slices;

use core::cmp::Ordering;
use core::hint::assert_unchecked;
use core::ptr::null_mut;
use core::slice;
use core::sync::atomic::{AtomicI64, Ordering::AcqRel, Ordering::Relaxed};

pub use self::changes::{append, append_byte, append_bytes, set};
use self::room::Room;
pub use self::slices::slice;
use crate::heap::{Heap, SMALL, late};
use crate::layout::{Fault, TEXT_BYTES, TextHead, Worker};
use crate::long::Caller;
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
    unsafe { some_bytes(text) }
}

/// The bytes of a text that is not empty.
///
/// # Safety
/// As for [`bytes`]; it isn't null.
#[inline(always)]
unsafe fn some_bytes<'a>(text: *const TextHead) -> &'a [u8] {
    // SAFETY: as above; no other text is empty.
    unsafe {
        let bytes = match (*text).length {
            0 => slices::bytes(text),
            length => slice::from_raw_parts(first_byte(text), length as usize),
        };
        assert_unchecked(!bytes.is_empty());
        bytes
    }
}

/// Its number of bytes.
///
/// # Safety
/// `text` is live or null.
#[inline]
pub unsafe fn length(text: *const TextHead) -> usize {
    // SAFETY: as above.
    unsafe { bytes(text) }.len()
}

/// Whether it has more bytes than that.
///
/// # Safety
/// `text` is live or null.
#[inline]
pub unsafe fn is_longer(text: *const TextHead, bytes: usize) -> bool {
    // SAFETY: as above. That of a slice stands elsewhere.
    unsafe {
        !text.is_null() && (*text).length.wrapping_sub(1) >= bytes as u64 && some_bytes(text).len() > bytes
    }
}

/// A new text with one holder.
#[inline]
pub fn make(heap: &mut Heap, bytes: &[u8]) -> Result<*mut TextHead, Fault> {
    let text = allocate(heap, bytes.len())?;
    if !text.is_null() {
        // SAFETY: fresh and of that length.
        unsafe { short::copy(Caller::HASTY, bytes, first_byte(text)) };
    }
    Ok(text)
}

/// The same for bytes that may be many.
///
/// # Safety
/// `heap` is the worker's of this thread.
#[inline(always)]
unsafe fn make_in_parts(by: Caller, heap: *mut Heap, bytes: &[u8]) -> Result<*mut TextHead, Fault> {
    // SAFETY: as above; the text is fresh and of that length.
    unsafe {
        make_way(by, heap, bytes.len());
        let text = allocate(&mut *heap, bytes.len())?;
        if !text.is_null() {
            short::copy(by, bytes, first_byte(text));
        }
        Ok(text)
    }
}

/// A text of this length is going to be made: memory of others that have been freed is given back before, so that a
/// program takes no more of it than its texts at any time.
///
/// # Safety
/// `heap` is the worker's of this thread.
#[inline(always)]
unsafe fn make_way(by: Caller, heap: *mut Heap, length: usize) {
    if length > late::LARGE {
        // SAFETY: as above.
        unsafe { make_way_in_parts(by, heap, length) };
    }
}

/// # Safety
/// As for [`make_way`].
#[cold]
#[inline(never)]
unsafe fn make_way_in_parts(by: Caller, heap: *mut Heap, length: usize) {
    let mut freed = 0;
    // SAFETY: as above; no reference to the heap is held while others run.
    while freed < length && unsafe { (*heap).free_late(&mut |_| true) } {
        freed += late::PART;
        by.pause();
    }
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
    begin(length, |bytes| heap.allocate_zeroed(bytes))
}

/// A new text that consists of two parts.
///
/// # Safety
/// `heap` is the worker's of this thread.
#[inline(always)]
unsafe fn join(by: Caller, heap: *mut Heap, a: &[u8], b: &[u8]) -> Result<*mut TextHead, Fault> {
    // SAFETY: as above. Two slices may be longer than memory, but their length is a number.
    unsafe { make_way(by, heap, a.len() + b.len()) };
    // SAFETY: likewise.
    let text = allocate(unsafe { &mut *heap }, a.len() + b.len())?;
    if !text.is_null() {
        // SAFETY: fresh and of the length of both.
        unsafe {
            short::copy(by, a, first_byte(text));
            short::copy(by, b, first_byte(text).add(a.len()));
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
                count.fetch_add(HOLDER, Relaxed);
            } else {
                count.store(now + HOLDER, Relaxed);
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
        is_one(count.fetch_sub(HOLDER, AcqRel))
    } else {
        count.store(now - HOLDER, Relaxed);
        is_one(now)
    };
    if was_last {
        // SAFETY: nobody holds it any more.
        unsafe {
            match Room::of(text) {
                Room::SLICE => slices::free(heap, text),
                room => heap.free_in_parts(text.cast(), room.bytes_of_live((*text).length as usize)),
            }
        }
    }
}

/// `a + b`
///
/// # Safety
/// Both are live or null.
#[inline]
pub unsafe fn concat(
    by: Caller,
    heap: *mut Heap,
    a: *mut TextHead,
    b: *mut TextHead,
) -> Result<*mut TextHead, Fault> {
    // SAFETY: as above.
    unsafe {
        match (a.is_null(), b.is_null()) {
            (_, true) => Ok(copy(&*heap, a)),
            (true, _) => Ok(copy(&*heap, b)),
            _ => join(by, heap, some_bytes(a), some_bytes(b)),
        }
    }
}

/// `a + b + c + d`, without what would lie between; null texts are empty.
///
/// # Safety
/// All are live or null.
pub unsafe fn concat_all(
    by: Caller,
    heap: *mut Heap,
    parts: [*mut TextHead; 4],
) -> Result<*mut TextHead, Fault> {
    // SAFETY: as above; the new text has room for all of them.
    unsafe {
        let mut filled = parts.iter().filter(|part| !part.is_null());
        let first = filled.next().copied().unwrap_or(null_mut());
        if filled.next().is_none() {
            return Ok(copy(&*heap, first));
        }
        let length = parts.iter().fold(0_usize, |sum, &part| sum.saturating_add(bytes(part).len()));
        make_way(by, heap, length);
        let text = allocate(&mut *heap, length)?;
        let mut end = first_byte(text);
        for part in parts {
            let part = bytes(part);
            short::copy(by, part, end);
            end = end.add(part.len());
        }
        Ok(text)
    }
}

/// `FIND(t, part, from)`
///
/// # Safety
/// Both are live or null.
#[inline]
pub unsafe fn find(
    by: Caller,
    text: *const TextHead,
    part: *const TextHead,
    from: i64,
) -> Result<i64, Fault> {
    // SAFETY: as above.
    let (all, part) = unsafe { (bytes(text), bytes(part)) };
    let rest = position(from).and_then(|from| all.get(from..)).ok_or(Fault::IndexOutOfBounds)?;
    Ok(by.find(rest, part).map_or(-1, |found| from + found as i64))
}

/// Order by unsigned bytes.
///
/// # Safety
/// Both are live or null.
#[inline]
pub unsafe fn compare(by: Caller, a: *const TextHead, b: *const TextHead) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    // SAFETY: as above.
    unsafe { by.compare(bytes(a), bytes(b)) }
}

/// Whether both are the same bytes.
///
/// # Safety
/// Both are live or null.
#[inline]
pub unsafe fn equal(by: Caller, a: *const TextHead, b: *const TextHead) -> bool {
    // SAFETY: as above; of two texts at most one is the empty one.
    a == b || !a.is_null() && !b.is_null() && unsafe { short::equal(by, some_bytes(a), some_bytes(b)) }
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
#[inline]
fn allocate(heap: &mut Heap, length: usize) -> Result<*mut TextHead, Fault> {
    // One comparison finds those that are neither empty nor large.
    if length.wrapping_sub(1) >= SHORT {
        return allocate_other(heap, length);
    }
    // SAFETY: that is no length at which anything overflows, nor one of a large block.
    let text = unsafe {
        let bytes = Room::NONE.bytes_of_live(length);
        assert_unchecked(bytes <= SMALL);
        heap.allocate(bytes) as *mut TextHead
    };
    if text.is_null() {
        return Err(Fault::OutOfMemory);
    }
    // SAFETY: fresh, and larger than the head.
    unsafe { text.write(TextHead { count: HOLDER, length: length as u64 }) };
    Ok(text)
}

#[cold]
#[inline(never)]
fn allocate_other(heap: &mut Heap, length: usize) -> Result<*mut TextHead, Fault> {
    begin(length, |bytes| heap.allocate(bytes))
}

/// A text in a block that is got so.
fn begin(length: usize, block: impl FnOnce(usize) -> *mut u8) -> Result<*mut TextHead, Fault> {
    if length == 0 {
        return Ok(null_mut());
    }
    let text = block(Room::NONE.bytes(length)) as *mut TextHead;
    if text.is_null() {
        return Err(Fault::OutOfMemory);
    }
    // SAFETY: fresh, and larger than the head.
    unsafe { text.write(TextHead { count: HOLDER, length: length as u64 }) };
    Ok(text)
}

/// The blocks of texts up to this length are small.
const SHORT: usize = SMALL.saturating_sub(TEXT_BYTES);
/// What a holder counts in [`TextHead::count`].
const HOLDER: i64 = 1 << 8;

/// Whether it says that there is one holder.
#[inline]
fn is_one(count: i64) -> bool {
    count & !(HOLDER - 1) == HOLDER
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

#[cfg(test)]
#[path = "slice_tests.rs"]
mod slice_tests;
