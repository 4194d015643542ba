//! Texts: immutable byte strings that count their holders, so that assigning one copies nothing ([`holding`]). The only
//! holder of a text may change it in place, and make it longer: then it gets room for more than it needs, so that
//! putting a text together piece by piece costs no more than its bytes ([`changes`]). A large part of a text shares its
//! bytes ([`slices`]). Records and sequences are held as texts are ([`records`],
//! [`sequences`]). Knows nothing of processes; generated code comes in
//! through [`entries`].
//!
//! # Safety of this module: *a live text*
//! A text is *live* as long as it has a holder, and that of each text that is passed in stays while the call lasts. A
//! text doesn't change meanwhile: only its only holder may change it, by [`changes`]. While the heap is shared between
//! workers ([`Heap::is_shared`]), counts of holders change atomically, and the last holder has seen all that the other
//! ones did with the text. Where other processes run within a call ([`Caller`]), no reference to the heap is held: then
//! it is passed by its address, and is that of the worker of this thread.

mod changes;
pub mod elsewhere;
pub mod entries;
pub mod equality;
mod holding;
mod numbers;
pub mod records;
mod room;
pub mod sequences;
mod short;
mod slices;
pub mod sorting;

use core::cmp::Ordering;
use core::hint::assert_unchecked;
use core::ptr::null_mut;

pub use self::changes::{append, append_byte, append_bytes, set};
use self::holding::{HOLDER, first_byte, some_bytes};
pub use self::holding::{bytes, copy, drop, drop_here, empty_spent, is_longer, length, words};
use self::room::Room;
pub use self::slices::slice;
use crate::heap::{Heap, SMALL, late};
use crate::layout::{Fault, TEXT_BYTES, TextHead, Worker};
use crate::long::Caller;
use crate::worker::heap_of;

/// A new text with one holder.
#[inline]
pub fn make(heap: &mut Heap, bytes: &[u8]) -> Result<*mut TextHead, Fault> {
    let text = allocate(heap, bytes.len())?;
    if !text.is_null() {
        // SAFETY: the text is new, and of that length.
        unsafe { short::copy(Caller::HASTY, bytes, first_byte(text)) };
    }
    Ok(text)
}

/// The same for bytes that may be many.
///
/// # Safety
/// `heap` is that of the worker of this thread.
#[inline(always)]
unsafe fn make_in_parts(by: Caller, heap: *mut Heap, bytes: &[u8]) -> Result<*mut TextHead, Fault> {
    // SAFETY: no other process runs while the heap is borrowed; the text is new, and of that length.
    unsafe {
        make_way(by, heap, bytes.len());
        let text = allocate(&mut *heap, bytes.len())?;
        if !text.is_null() {
            short::copy(by, bytes, first_byte(text));
        }
        Ok(text)
    }
}

/// A text of this length is going to be made. Before that, memory of texts that have been freed is given back, so that
/// a program never takes more of it than its texts.
///
/// # Safety
/// `heap` is that of the worker of this thread.
#[inline(always)]
unsafe fn make_way(by: Caller, heap: *mut Heap, length: usize) {
    if length > late::LARGE {
        // SAFETY: `heap` is this worker's heap.
        unsafe { make_way_in_parts(by, heap, length) };
    }
}

/// The same for a text that is large.
///
/// # Safety
/// As for [`make_way`].
#[cold]
#[inline(never)]
unsafe fn make_way_in_parts(by: Caller, heap: *mut Heap, length: usize) {
    let mut freed = 0;
    // SAFETY: no other process runs while the heap is borrowed.
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
    // SAFETY: only its thread uses a worker's heap.
    make(unsafe { &mut *heap_of(worker) }, bytes)
}

/// A new text of `length` bytes 0X.
pub fn make_zeroed(heap: &mut Heap, length: usize) -> Result<*mut TextHead, Fault> {
    begin(length, |bytes| heap.allocate_zeroed(bytes))
}

/// A new text that consists of two parts.
///
/// # Safety
/// `heap` is that of the worker of this thread.
#[inline(always)]
unsafe fn join(by: Caller, heap: *mut Heap, a: &[u8], b: &[u8]) -> Result<*mut TextHead, Fault> {
    // Two slices may be longer than memory, but their length is a number.
    let length = a.len() + b.len();
    // SAFETY: no other process runs while the heap is borrowed; the text is new, and as long as both.
    unsafe {
        make_way(by, heap, length);
        let text = allocate(&mut *heap, length)?;
        if !text.is_null() {
            short::copy(by, a, first_byte(text));
            short::copy(by, b, first_byte(text).add(a.len()));
        }
        Ok(text)
    }
}

/// `a + b`
///
/// # Safety
/// Both are null or *live*; `heap` is that of the worker of this thread.
#[inline]
pub unsafe fn concat(
    by: Caller,
    heap: *mut Heap,
    a: *mut TextHead,
    b: *mut TextHead,
) -> Result<*mut TextHead, Fault> {
    // SAFETY: a text that isn't null is live.
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
/// All are null or *live*; `heap` is that of the worker of this thread.
pub unsafe fn concat_all(
    by: Caller,
    heap: *mut Heap,
    parts: [*mut TextHead; 4],
) -> Result<*mut TextHead, Fault> {
    // SAFETY: the parts are live; the new text is as long as all of them.
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
/// Both are null or *live*.
#[inline]
pub unsafe fn find(
    by: Caller,
    text: *const TextHead,
    part: *const TextHead,
    from: i64,
) -> Result<i64, Fault> {
    // SAFETY: both texts are live, and don't change meanwhile.
    let (all, part) = unsafe { (bytes(text), bytes(part)) };
    let rest = position(from).and_then(|from| all.get(from..)).ok_or(Fault::IndexOutOfBounds)?;
    Ok(by.find(rest, part).map_or(-1, |found| from + found as i64))
}

/// Order by unsigned bytes.
///
/// # Safety
/// Both are null or *live*.
#[inline]
pub unsafe fn compare(by: Caller, a: *const TextHead, b: *const TextHead) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    // SAFETY: both texts are live, and don't change meanwhile.
    unsafe { by.compare(bytes(a), bytes(b)) }
}

/// Whether both are the same bytes.
///
/// # Safety
/// Both are null or *live*.
#[inline]
pub unsafe fn equal(by: Caller, a: *const TextHead, b: *const TextHead) -> bool {
    // SAFETY: both texts are live, and don't change meanwhile. (If one is the empty text, the other one isn't.)
    a == b || !a.is_null() && !b.is_null() && unsafe { short::equal(by, some_bytes(a), some_bytes(b)) }
}

fn position(n: i64) -> Option<usize> {
    usize::try_from(n).ok()
}

/// A new text whose bytes are undefined so far; null for length 0.
#[inline]
fn allocate(heap: &mut Heap, length: usize) -> Result<*mut TextHead, Fault> {
    // One comparison finds those that are neither empty nor large.
    if length.wrapping_sub(1) >= SHORT {
        return allocate_other(heap, length);
    }
    // SAFETY: at such a length nothing overflows, and the block is a small one.
    let text = unsafe {
        let bytes = Room::NONE.bytes_of_live(length);
        assert_unchecked(bytes <= SMALL);
        heap.allocate(bytes) as *mut TextHead
    };
    if text.is_null() {
        return Err(Fault::OutOfMemory);
    }
    // SAFETY: the block is new, and larger than the head.
    unsafe { text.write(TextHead { count: HOLDER, length: length as u64 }) };
    Ok(text)
}

#[cold]
#[inline(never)]
fn allocate_other(heap: &mut Heap, length: usize) -> Result<*mut TextHead, Fault> {
    begin(length, |bytes| heap.allocate(bytes))
}

/// A new text in the block that `block` allocates.
fn begin(length: usize, block: impl FnOnce(usize) -> *mut u8) -> Result<*mut TextHead, Fault> {
    if length == 0 {
        return Ok(null_mut());
    }
    let text = block(Room::NONE.bytes(length)) as *mut TextHead;
    if text.is_null() {
        return Err(Fault::OutOfMemory);
    }
    // SAFETY: the block is new, and larger than the head.
    unsafe { text.write(TextHead { count: HOLDER, length: length as u64 }) };
    Ok(text)
}

/// The blocks of texts up to this length are small.
const SHORT: usize = SMALL.saturating_sub(TEXT_BYTES);
#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;

#[cfg(test)]
mod value_tests;

#[cfg(test)]
#[path = "slice_tests.rs"]
mod slice_tests;
