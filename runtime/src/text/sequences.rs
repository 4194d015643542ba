//! Sequences: values of any number of elements, a word each, which are held, copied and dropped as texts are. A block
//! has a [`TextHead`] and the elements' words; either all of them own something (texts, records, sequences) or none.
//! Null is the empty sequence. As with texts, only the only holder of a block changes it.
//!
//! # Safety of this module: *sequences*
//! Each sequence that is passed in is null or live while the call lasts, and elements are owned as `is_owned` says.
//! `cell` is a variable that holds such a sequence, and that nobody else uses during the call. `heap` is that of the
//! worker of this thread; no reference to it is held where other processes may run ([`Caller`]).

use core::ptr::{self, null_mut};
use core::sync::atomic::Ordering::Acquire;

use super::holding::{AT_ONCE, Extent, HOLDER, copy, drop, empty_spent, holders, is_one, words};
use super::room::Room;
use crate::heap::Heap;
use crate::layout::{Fault, TextHead};
use crate::long::Caller;

/// The number of elements.
///
/// # Safety
/// *Sequences*.
#[inline]
pub unsafe fn count(sequence: *const TextHead) -> usize {
    // SAFETY: it is live if it isn't null.
    if sequence.is_null() { 0 } else { unsafe { Extent::of(sequence).count as usize } }
}

/// A new sequence of so many elements, which are 0.
///
/// # Safety
/// *Sequences*.
pub unsafe fn make(
    by: Caller,
    heap: *mut Heap,
    count: usize,
    is_owned: bool,
) -> Result<*mut TextHead, Fault> {
    if count == 0 {
        return Ok(null_mut());
    }
    let count = u32::try_from(count).map_err(|_| Fault::OutOfMemory)?;
    let extent = fitting(count, is_owned);
    // SAFETY: the heap is borrowed while no other process runs; the block is new, and larger than the head.
    unsafe {
        make_way(by, heap, count as usize);
        let new = (*heap).allocate_zeroed(extent.bytes()) as *mut TextHead;
        if new.is_null() {
            return Err(Fault::OutOfMemory);
        }
        new.write(TextHead { count: HOLDER | i64::from(Room::SEQUENCE.0), length: extent.length() });
        Ok(new)
    }
}

/// The extent of a sequence of so many elements whose block isn't larger than it must be.
fn fitting(count: u32, is_owned: bool) -> Extent {
    let extent = Extent { count, is_owned, room: Room::NONE };
    Extent { room: Room::holding(extent.needed()), ..extent }
}

/// A long sequence is going to be made. Before that, others that are spent are emptied, so that a program never takes
/// more memory than its sequences.
///
/// # Safety
/// *Sequences*.
#[inline]
unsafe fn make_way(by: Caller, heap: *mut Heap, count: usize) {
    // SAFETY: no other process runs while the heap is borrowed.
    unsafe {
        if count <= AT_ONCE || !(*heap).has_spent() {
            return;
        }
        let mut freed = 0;
        while freed < count && empty_spent(&mut *heap, &mut |_| true) {
            freed += AT_ONCE;
            by.pause();
        }
    }
}

/// Copies elements; of what they own there is one holder more.
///
/// # Safety
/// *Sequences*; `from` may be read and `to` written for so many words, also while other processes run.
unsafe fn copy_elements(
    by: Caller,
    heap: *mut Heap,
    from: *const u64,
    to: *mut u64,
    count: usize,
    is_owned: bool,
) {
    // SAFETY: the words may be read and written; what they own is live.
    unsafe {
        if !is_owned {
            return by.copy(from.cast(), to.cast(), 8 * count);
        }
        for index in 0..count {
            if index % AT_ONCE == AT_ONCE - 1 {
                by.pause();
            }
            *to.add(index) = copy(&*heap, *from.add(index) as *mut TextHead) as u64;
        }
    }
}

/// Makes sure that the sequence in `cell`, which isn't empty, has no other holder.
///
/// # Safety
/// *Sequences*.
unsafe fn own(by: Caller, heap: *mut Heap, cell: *mut *mut TextHead) -> Result<*mut TextHead, Fault> {
    // SAFETY: the sequence is live until it is dropped. What other holders read of it has happened before they dropped
    // it.
    unsafe {
        let old = *cell;
        if !is_one(holders(old).load(Acquire)) {
            let Extent { count, is_owned, .. } = Extent::of(old);
            let new = make(by, heap, count as usize, is_owned)?;
            copy_elements(by, heap, words(old), words(new), count as usize, is_owned);
            *cell = new;
            drop(&mut *heap, old);
        }
        Ok(*cell)
    }
}

/// Where the word of an element is that is going to be changed.
///
/// # Safety
/// *Sequences*.
pub unsafe fn place(
    by: Caller,
    heap: *mut Heap,
    cell: *mut *mut TextHead,
    index: i64,
) -> Result<*mut u64, Fault> {
    // SAFETY: the element is one of the sequence.
    unsafe {
        let index = within(index, count(*cell))?;
        Ok(words(own(by, heap, cell)?).add(index))
    }
}

/// An index as a number, if it is less than `count`.
fn within(index: i64, count: usize) -> Result<usize, Fault> {
    usize::try_from(index).ok().filter(|&index| index < count).ok_or(Fault::IndexOutOfBounds)
}

/// Puts a new element before that of the index, or behind the last one. Answers where its word is, which is 0.
///
/// # Safety
/// *Sequences*.
pub unsafe fn insert(
    by: Caller,
    heap: *mut Heap,
    cell: *mut *mut TextHead,
    index: i64,
    is_owned: bool,
) -> Result<*mut u64, Fault> {
    // SAFETY: the block has room for one element more when the others move up.
    unsafe {
        let old = count(*cell);
        let index = within(index, old + 1)?;
        if old == 0 {
            *cell = make(by, heap, 1, is_owned)?;
            return Ok(words(*cell));
        }
        let sequence = own(by, heap, cell)?;
        let before = Extent::of(sequence);
        let count = before.count.checked_add(1).ok_or(Fault::OutOfMemory)?;
        let after = Extent { count, ..before };
        let needed = after.needed();
        let room = if needed > before.bytes() { Room::holding(needed + needed / 4) } else { before.room };
        let sequence = resize(heap, cell, sequence, before, Extent { room, ..after })?;
        let place = words(sequence).add(index);
        move_up(by, place, old - index);
        place.write(0);
        Ok(place)
    }
}

/// Gives a sequence that has one holder another extent, and the block for it. Its words stay, as many as there are.
///
/// # Safety
/// *Sequences*; `cell` holds the sequence, which is of the extent `before`. Further words are written next; those that
/// are lost own nothing any more.
unsafe fn resize(
    heap: *mut Heap,
    cell: *mut *mut TextHead,
    sequence: *mut TextHead,
    before: Extent,
    after: Extent,
) -> Result<*mut TextHead, Fault> {
    // SAFETY: the block is the sequence's, of that size.
    unsafe {
        let mut block = sequence;
        if before.room != after.room {
            block = (*heap).reallocate(sequence.cast(), before.bytes(), after.bytes()).cast();
            if block.is_null() {
                return Err(Fault::OutOfMemory);
            }
            *cell = block;
        }
        (*block).length = after.length();
        Ok(block)
    }
}

/// Words that are moved at once.
const MOVED_AT_ONCE: usize = 8 * AT_ONCE;

/// Moves words up by one, the last ones first.
///
/// # Safety
/// One word more than these may be written, also while other processes run.
unsafe fn move_up(by: Caller, first: *mut u64, count: usize) {
    let mut left = count;
    while left > MOVED_AT_ONCE {
        left -= MOVED_AT_ONCE;
        // SAFETY: these words lie among those.
        unsafe { ptr::copy(first.add(left), first.add(left + 1), MOVED_AT_ONCE) };
        by.pause();
    }
    // SAFETY: these words lie among those.
    unsafe { ptr::copy(first, first.add(1), left) };
}

/// Moves words down by one, the first ones first.
///
/// # Safety
/// The word before these may be written, also while other processes run.
unsafe fn move_down(by: Caller, first: *mut u64, count: usize) {
    for start in (0..count).step_by(MOVED_AT_ONCE) {
        let part = MOVED_AT_ONCE.min(count - start);
        // SAFETY: these words lie among those.
        unsafe { ptr::copy(first.add(start), first.add(start).sub(1), part) };
        if part == MOVED_AT_ONCE {
            by.pause();
        }
    }
}

/// Takes an element out, and drops what it owns.
///
/// # Safety
/// *Sequences*.
pub unsafe fn remove(by: Caller, heap: *mut Heap, cell: *mut *mut TextHead, index: i64) -> Result<(), Fault> {
    // SAFETY: the element is one of the sequence; when the others have moved down, the last word isn't used any more.
    unsafe {
        let before = count(*cell);
        let index = within(index, before)?;
        let sequence = own(by, heap, cell)?;
        let extent = Extent::of(sequence);
        let element = words(sequence).add(index);
        let removed = *element;
        move_down(by, element.add(1), before - index - 1);
        if before == 1 {
            (*heap).free(sequence.cast(), extent.bytes());
            *cell = null_mut();
        } else {
            let less = Extent { count: extent.count - 1, ..extent };
            let fits = fitting(less.count, less.is_owned);
            let is_much_too_large = 2 * fits.bytes() < extent.bytes();
            // A block that can't be made smaller stays.
            if !is_much_too_large || resize(heap, cell, sequence, extent, fits).is_err() {
                (*sequence).length = less.length();
            }
        }
        if extent.is_owned {
            drop(&mut *heap, removed as *mut TextHead);
        }
    }
    Ok(())
}

/// A part of a sequence: `n` elements, the first of which is that of the index `from`.
///
/// # Safety
/// *Sequences*.
pub unsafe fn slice(
    by: Caller,
    heap: *mut Heap,
    sequence: *mut TextHead,
    from: i64,
    n: i64,
) -> Result<*mut TextHead, Fault> {
    // SAFETY: the part lies within the sequence.
    unsafe {
        let all = count(sequence);
        let from = within(from, all + 1)?;
        let n = within(n, all - from + 1)?;
        if n == all {
            return Ok(copy(&*heap, sequence));
        }
        if n == 0 {
            return Ok(null_mut());
        }
        let is_owned = Extent::of(sequence).is_owned;
        let new = make(by, heap, n, is_owned)?;
        copy_elements(by, heap, words(sequence).add(from), words(new), n, is_owned);
        Ok(new)
    }
}

/// The elements of one sequence, and then those of another one.
///
/// # Safety
/// *Sequences*.
pub unsafe fn join(
    by: Caller,
    heap: *mut Heap,
    a: *mut TextHead,
    b: *mut TextHead,
) -> Result<*mut TextHead, Fault> {
    // SAFETY: the new sequence has room for both.
    unsafe {
        if a.is_null() || b.is_null() {
            return Ok(copy(&*heap, if a.is_null() { b } else { a }));
        }
        let is_owned = Extent::of(a).is_owned;
        let (first, second) = (count(a), count(b));
        let new = make(by, heap, first + second, is_owned)?;
        copy_elements(by, heap, words(a), words(new), first, is_owned);
        copy_elements(by, heap, words(b), words(new).add(first), second, is_owned);
        Ok(new)
    }
}

/// The elements of a sequence at the places that `order` names.
///
/// # Safety
/// *Sequences*; each of the places is less than the number of elements.
pub(super) unsafe fn pick(
    by: Caller,
    heap: *mut Heap,
    sequence: *mut TextHead,
    order: &[u64],
) -> Result<*mut TextHead, Fault> {
    if sequence.is_null() {
        return Ok(sequence);
    }
    // SAFETY: the new sequence has as many words; the places are the sequence's.
    unsafe {
        let is_owned = Extent::of(sequence).is_owned;
        let new = make(by, heap, order.len(), is_owned)?;
        for (index, &place) in order.iter().enumerate() {
            if index % AT_ONCE == AT_ONCE - 1 {
                by.pause();
            }
            copy_elements(
                Caller::HASTY,
                heap,
                words(sequence).add(place as usize),
                words(new).add(index),
                1,
                is_owned,
            );
        }
        Ok(new)
    }
}
