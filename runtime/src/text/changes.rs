//! What changes a text: in its place if nobody else holds it, else a copy.
//!
//! # Safety of this module: *a text variable*
//! `cell` is a variable that holds *a live text* or null, and that nobody else uses during the call; `heap` is that of
//! the worker of this thread. If the text has one holder, that is the variable: nobody else can look at its bytes, and
//! no slice shares them, for a slice is a holder, too.

use core::sync::atomic::Ordering::Acquire;

use super::holding::{HOLDER, bytes, copy, drop, first_byte, holders, is_one};
use super::room::Room;
use super::{make, make_in_parts, make_way, position, slices};
use crate::heap::Heap;
use crate::layout::{Fault, TEXT_BYTES, TextHead};
use crate::long::Caller;

/// `t := t + x` for the text in `cell`, in its place if nobody else holds it.
///
/// # Safety
/// `cell` is *a text variable*; `more` is null or a live text, and may be the same.
#[inline]
pub unsafe fn append(
    by: Caller,
    heap: *mut Heap,
    cell: *mut *mut TextHead,
    more: *mut TextHead,
) -> Result<(), Fault> {
    // SAFETY: both texts are live, and there is room for both when the bytes are copied.
    unsafe {
        let text = *cell;
        if text.is_null() {
            *cell = copy(&*heap, more);
            return Ok(());
        }
        // The text itself moves when it grows, and is then what is appended.
        let more = if more == text { None } else { Some(bytes(more)) };
        let old = bytes(text).len();
        let added = more.map_or(old, <[u8]>::len);
        let text = make_room(by, heap, cell, old.saturating_add(added))?;
        let from = more.map_or(first_byte(text).cast_const(), <[u8]>::as_ptr);
        by.copy(from, first_byte(text).add(old), added);
        (*text).length = (old + added) as u64;
    }
    Ok(())
}

/// The same for bytes that are no text.
///
/// # Safety
/// `cell` is *a text variable*.
pub unsafe fn append_bytes(heap: *mut Heap, cell: *mut *mut TextHead, more: &[u8]) -> Result<(), Fault> {
    // SAFETY: the text is live, and there is room for more when the bytes are copied.
    unsafe {
        if (*cell).is_null() {
            *cell = make(&mut *heap, more)?;
            return Ok(());
        }
        let old = bytes(*cell).len();
        let length = old.saturating_add(more.len());
        let text = make_room(Caller::HASTY, heap, cell, length)?;
        first_byte(text).add(old).copy_from_nonoverlapping(more.as_ptr(), more.len());
        (*text).length = length as u64;
    }
    Ok(())
}

/// `t := t + TEXT(c)` likewise.
///
/// # Safety
/// `cell` is *a text variable*.
pub unsafe fn append_byte(
    by: Caller,
    heap: *mut Heap,
    cell: *mut *mut TextHead,
    byte: u8,
) -> Result<(), Fault> {
    // SAFETY: the text is live, and there is room for the byte when it is written.
    unsafe {
        if (*cell).is_null() {
            *cell = make(&mut *heap, &[byte])?;
            return Ok(());
        }
        let old = bytes(*cell).len();
        let text = make_room(by, heap, cell, old.saturating_add(1))?;
        first_byte(text).add(old).write(byte);
        (*text).length = (old + 1) as u64;
    }
    Ok(())
}

/// Makes sure that the text in `cell` has no other holder and is no slice, and that there is room for so many bytes in
/// all.
///
/// # Safety
/// `cell` is *a text variable*, and not empty.
#[inline]
unsafe fn make_room(
    by: Caller,
    heap: *mut Heap,
    cell: *mut *mut TextHead,
    length: usize,
) -> Result<*mut TextHead, Fault> {
    // SAFETY: the text is this variable's alone, and its room says how large its block is.
    unsafe {
        if !is_own(heap, cell) {
            return move_to_room(by, heap, cell, length);
        }
        let text = *cell;
        let old = (*text).length as usize;
        let before = Room::of(text).bytes(old);
        if TEXT_BYTES.saturating_add(length) <= before {
            return Ok(text);
        }
        let grown = Room::for_growing(length);
        let moved = (*heap).reallocate(text.cast(), before, grown.bytes(length)) as *mut TextHead;
        put(cell, moved, grown, old)
    }
}

/// The same for a text that may not be changed.
///
/// # Safety
/// As for [`make_room`].
unsafe fn move_to_room(
    by: Caller,
    heap: *mut Heap,
    cell: *mut *mut TextHead,
    length: usize,
) -> Result<*mut TextHead, Fault> {
    // SAFETY: the text is live until it is dropped; the copy is new, and has that room.
    unsafe {
        let text = *cell;
        let old = bytes(text);
        let grown = Room::for_growing(length);
        make_way(by, heap, grown.bytes(length));
        let moved = (*heap).allocate(grown.bytes(length)) as *mut TextHead;
        if !moved.is_null() {
            by.copy(old.as_ptr(), first_byte(moved), old.len());
        }
        let moved = put(cell, moved, grown, old.len())?;
        drop(&mut *heap, text);
        Ok(moved)
    }
}

/// Puts the block of a text that has grown, or is going to, into `cell`.
///
/// # Safety
/// `cell` is *a text variable*, what it held is gone or goes. `text` is null, or a block of that room that nobody else
/// knows; its bytes are there.
unsafe fn put(
    cell: *mut *mut TextHead,
    text: *mut TextHead,
    room: Room,
    length: usize,
) -> Result<*mut TextHead, Fault> {
    if text.is_null() {
        return Err(Fault::OutOfMemory);
    }
    // SAFETY: the block is larger than the head.
    unsafe {
        text.write(TextHead { count: HOLDER | i64::from(room.0), length: length as u64 });
        *cell = text;
    }
    Ok(text)
}

/// `t[i] := x`
///
/// # Safety
/// `cell` is *a text variable*.
pub unsafe fn set(
    by: Caller,
    heap: *mut Heap,
    cell: *mut *mut TextHead,
    index: i64,
    byte: u8,
) -> Result<(), Fault> {
    // SAFETY: the text is live, and is the variable's alone when the byte is written, which is one of it.
    unsafe {
        let length = bytes(*cell).len();
        let index = position(index).filter(|&index| index < length).ok_or(Fault::IndexOutOfBounds)?;
        let text = make_unique(by, heap, cell)?;
        first_byte(text).add(index).write(byte);
    }
    Ok(())
}

/// Makes sure that the text in `cell` has no other holder and is no slice, so that it may be changed.
///
/// # Safety
/// `cell` is *a text variable*, and not empty.
unsafe fn make_unique(by: Caller, heap: *mut Heap, cell: *mut *mut TextHead) -> Result<*mut TextHead, Fault> {
    // SAFETY: the text is live until it is dropped.
    unsafe {
        if !is_own(heap, cell) {
            let text = *cell;
            *cell = make_in_parts(by, heap, bytes(text))?;
            drop(&mut *heap, text);
        }
        Ok(*cell)
    }
}

/// Whether the text in `cell` may be changed in its place. A slice may be, if the text whose beginning it is was left
/// to it.
///
/// # Safety
/// `cell` is *a text variable*, and not empty.
#[inline]
unsafe fn is_own(heap: *mut Heap, cell: *mut *mut TextHead) -> bool {
    // SAFETY: the text is live.
    unsafe {
        is_one(holders(*cell).load(Acquire)) && ((**cell).length > 0 || slices::become_whole(heap, cell))
    }
}
