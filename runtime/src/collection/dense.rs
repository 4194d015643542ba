//! The dense part of a collection with one number as its key: elements without gaps, found by subtraction, also by
//! generated code itself. It grows and shrinks at both ends, each element moved a constant number of times on
//! average, and is never much larger than its elements need.
//!
//! Keys in the middle may be missing. Then generated code knows a *window*, a part without gaps, and elements outside
//! of it are found here. While elements are added or taken the window is *open*: the head describes the whole range.

use alloc::boxed::Box;
use core::ptr::{self, null_mut};

use super::gaps::Gaps;
use super::shape::{Shape, Size};
use crate::heap::Heap;
use crate::layout::CollectionHead;

/// What generated code knows, and the block around it.
///
/// `block` is null, or a live block of `capacity` elements in which those of the whole range lie. Their size is the one
/// that is passed to all methods.
#[repr(C)]
pub struct Dense {
    head: CollectionHead,
    block: *mut u8,
    capacity: usize,
    gaps: Option<Box<Gapped>>,
}

/// What is known where keys are missing. The first and the last key never are.
struct Gapped {
    gaps: Gaps,
    /// The whole range; the window, which has at least one element, while it is open.
    other: (i64, u64),
}

/// One of the ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Below the lowest key.
    Front,
    /// Above the highest key.
    Back,
}

impl Dense {
    /// No elements.
    pub const EMPTY: Dense = Dense {
        head: CollectionHead { dense: null_mut(), low: 0, length: 0 },
        block: null_mut(),
        capacity: 0,
        gaps: None,
    };

    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.head.length as usize
    }

    /// The lowest key.
    pub fn low(&self) -> i64 {
        self.head.low
    }

    /// Where a key's element would be, counted from the lowest.
    #[inline]
    pub fn index(&self, key: i64) -> Option<usize> {
        let index = key.wrapping_sub(self.head.low) as u64;
        (index < self.head.length).then_some(index as usize)
    }

    /// The element at an index.
    #[inline]
    pub fn at(&self, index: usize, size: Size) -> *mut u8 {
        self.head.dense.wrapping_add(size.of(index))
    }

    /// The smallest key above `key`, or of all, with its element.
    pub fn after(&self, key: Option<i64>, size: Size) -> Option<(i64, *mut u8)> {
        let (low, length) = self.whole();
        let index = match key {
            Some(key) if key >= low => (key.wrapping_sub(low) as u64).checked_add(1)?,
            _ => 0,
        };
        if index >= length {
            return None;
        }
        let key = low.wrapping_add(index as i64);
        let key = self.gaps.as_ref().map_or(key, |gapped| gapped.gaps.present(key));
        Some((key, self.of(key, size)))
    }

    /// Whether keys are missing.
    #[inline]
    pub fn has_gaps(&self) -> bool {
        self.gaps.is_some()
    }

    /// The lowest key, and how many there are with those that are missing.
    pub fn whole(&self) -> (i64, u64) {
        self.gaps.as_ref().map_or((self.head.low, self.head.length), |gapped| gapped.other)
    }

    /// The element of a key in the whole range.
    pub fn of(&self, key: i64, size: Size) -> *mut u8 {
        let places = key.wrapping_sub(self.head.low) as isize;
        self.head.dense.wrapping_offset(places << size.shift())
    }

    /// The element of a key that lies outside the window.
    #[cold]
    pub fn beside(&self, key: i64, size: Size) -> Option<*mut u8> {
        let gapped = self.gaps.as_ref()?;
        (is_within(gapped.other, key) && !gapped.gaps.has(key)).then(|| self.of(key, size))
    }

    /// The same, made with zero if its key is missing. `None`: it lies outside the whole range.
    pub fn fill(&mut self, key: i64, size: Size) -> Option<*mut u8> {
        let gapped = self.gaps.as_mut()?;
        if !is_within(gapped.other, key) {
            return None;
        }
        if gapped.gaps.remove(key) {
            // It has been zero since it was made a gap.
            self.widen(size);
        }
        Some(self.of(key, size))
    }

    /// Makes a key a gap, and answers what its element held.
    ///
    /// # Safety
    /// The key is there, and is neither the first nor the last one.
    pub unsafe fn punch(&mut self, key: i64, size: Size) -> u64 {
        let element = self.of(key, size);
        // SAFETY: the key is there, and so is its element.
        let word = unsafe {
            let word = size.read(element);
            size.write(element, 0);
            word
        };
        let whole = (self.head.low, self.head.length);
        self.gaps.get_or_insert_with(|| Box::new(Gapped { gaps: Gaps::new(), other: whole })).gaps.add(key);
        if let Some(index) = self.index(key) {
            let behind = self.len() - 1 - index;
            if index >= behind {
                self.head.length = index as u64;
            } else {
                self.head.dense = element.wrapping_add(size.of(1));
                (self.head.low, self.head.length) = (key + 1, behind as u64);
            }
            self.widen(size);
        }
        word
    }

    /// Whether so many keys are missing that the elements shall go to the rest.
    pub fn is_thin(&self) -> bool {
        self.gaps.as_ref().is_some_and(|gapped| gapped.gaps.count() > self.len() / 3)
    }

    /// The head describes the whole range, until it is closed.
    pub fn open(&mut self, size: Size) {
        if self.gaps.is_some() {
            self.exchange(size);
        }
    }

    /// The head describes the window again, for generated code.
    pub fn close(&mut self, size: Size) {
        if self.gaps.is_some() {
            self.exchange(size);
            self.widen(size);
        }
    }

    fn exchange(&mut self, size: Size) {
        let Some(gapped) = &mut self.gaps else { return };
        let (low, length) = core::mem::replace(&mut gapped.other, (self.head.low, self.head.length));
        self.head = CollectionHead { dense: self.of(low, size), low, length };
    }

    /// Makes the window as wide as it can be: the whole range if no key is missing any more.
    fn widen(&mut self, size: Size) {
        let Some(Gapped { gaps, other: (low, length) }) = self.gaps.as_deref() else { return };
        let last = low.wrapping_add(*length as i64 - 1);
        if gaps.count() == 0 {
            self.head = CollectionHead { dense: self.of(*low, size), low: *low, length: *length };
            self.gaps = None;
            return;
        }
        let mut middle = self.head.low;
        if self.head.length == 0 || !is_within((*low, *length), middle) || gaps.has(middle) {
            middle = *low;
        }
        let low = gaps.last_to(middle).map_or(*low, |gap| gap + 1);
        let last = gaps.first_from(middle).map_or(last, |gap| gap - 1);
        let length = last.wrapping_sub(low) as u64 + 1;
        self.head = CollectionHead { dense: self.of(low, size), low, length };
    }

    /// The key just outside an end, if there is such a number.
    #[inline]
    pub fn neighbour(&self, end: End) -> Option<i64> {
        match end {
            End::Front => self.head.low.checked_sub(1),
            End::Back => self.head.low.checked_add_unsigned(self.head.length),
        }
    }

    /// At which end a key would extend it; any key begins it.
    #[inline]
    pub fn end_at(&self, key: i64) -> Option<End> {
        if self.len() == 0 || self.neighbour(End::Back) == Some(key) {
            return Some(End::Back);
        }
        (self.neighbour(End::Front) == Some(key)).then_some(End::Front)
    }

    /// Begins anew with one element, zero. `None`: there is no memory.
    ///
    /// # Safety
    /// It is empty.
    pub unsafe fn start(&mut self, heap: &mut Heap, size: Size, key: i64) -> Option<*mut u8> {
        self.head = CollectionHead { dense: self.block, low: key, length: 0 };
        self.extend(heap, size, End::Back)
    }

    /// Adds an element, zero, at an end. `None`: there is no memory.
    #[inline]
    pub fn extend(&mut self, heap: &mut Heap, size: Size, end: End) -> Option<*mut u8> {
        if self.spare(end, size) == 0 {
            self.make_room(heap, size, end)?;
        }
        if end == End::Front {
            // SAFETY: there is room for an element before the first one.
            self.head.dense = unsafe { self.head.dense.sub(size.of(1)) };
            self.head.low -= 1;
        }
        self.head.length += 1;
        let element = if end == End::Front { self.head.dense } else { self.at(self.len() - 1, size) };
        // SAFETY: there was room for the element.
        unsafe { ptr::write_bytes(element, 0, size.of(1)) };
        Some(element)
    }

    /// Takes the element at an end away and answers what it held.
    ///
    /// # Safety
    /// There is one.
    pub unsafe fn take(&mut self, heap: &mut Heap, size: Size, end: End) -> u64 {
        let index = if end == End::Front { 0 } else { self.len() - 1 };
        // SAFETY: there is an element at that end.
        let element = unsafe { size.read(self.at(index, size)) };
        self.head.length -= 1;
        if end == End::Front {
            self.head.dense = self.head.dense.wrapping_add(size.of(1));
            self.head.low = self.head.low.wrapping_add(1);
        }
        self.trim(size, end);
        if self.capacity > 4 * (self.len() + reserve(size)) {
            let capacity = roomy(self.len(), size);
            // If there is no memory for a smaller block, the large one stays.
            // SAFETY: so many are before them, and at least as many behind them.
            let _ = unsafe { self.relocate(heap, size, capacity, (capacity - self.len()) / 2) };
        }
        element
    }

    /// Forgets gaps at an end.
    #[inline]
    fn trim(&mut self, size: Size, end: End) {
        if let Some(gapped) = &mut self.gaps {
            if self.head.length == 0 {
                self.gaps = None;
                return;
            }
            let last = self.head.low.wrapping_add(self.head.length as i64 - 1);
            let trimmed = match end {
                End::Front => gapped.gaps.trim(self.head.low, true),
                End::Back => gapped.gaps.trim(last, false),
            };
            self.head.length -= trimmed;
            if end == End::Front {
                self.head.low = self.head.low.wrapping_add(trimmed as i64);
                self.head.dense = self.head.dense.wrapping_add(size.of(trimmed as usize));
            }
        }
    }

    /// Frees the elements from the last on until it is enough, and then the block; whether all is done.
    pub fn free_until(&mut self, heap: &mut Heap, shape: Shape, is_enough: &mut dyn FnMut() -> bool) -> bool {
        let size = shape.size;
        // What is missing is zero, and so needs no care.
        self.open(size);
        loop {
            let left = shape.without_piece(self.len());
            // SAFETY: these elements are none any more.
            unsafe { shape.drop_range(heap, self.at(left, size), self.len() - left) };
            self.head.length = left as u64;
            if left == 0 {
                if !self.block.is_null() {
                    // SAFETY: nothing is left in the block.
                    unsafe { heap.free(self.block, size.of(self.capacity)) };
                }
                *self = Dense::EMPTY;
                return true;
            }
            let front = self.capacity - self.spare(End::Back, size) - left;
            // SAFETY: the block is of that capacity, and what is left ends with the last element.
            self.block = unsafe { heap.shrink(self.block, size.of(self.capacity), size.of(front + left)) };
            (self.head.dense, self.capacity) = (self.block.wrapping_add(size.of(front)), front + left);
            if is_enough() {
                self.end_before(self.head.low.wrapping_add(left as i64), size);
                return false;
            }
        }
    }

    /// Forgets the keys from this one on.
    fn end_before(&mut self, key: i64, size: Size) {
        if let Some(gapped) = &mut self.gaps {
            gapped.gaps.forget_from(key);
            self.trim(size, End::Back);
            self.close(size);
        }
    }

    /// How many elements fit before the first, or behind the last one.
    #[inline]
    fn spare(&self, end: End, size: Size) -> usize {
        let front = (self.head.dense as usize - self.block as usize) >> size.shift();
        match end {
            End::Front => front,
            End::Back => self.capacity - front - self.len(),
        }
    }

    /// Makes room at an end that has none. A quarter of all room stays at the other end, if it had so much, so that
    /// growing at both ends by turns doesn't move everything each time.
    #[cold]
    fn make_room(&mut self, heap: &mut Heap, size: Size, end: End) -> Option<()> {
        let elsewhere = self.capacity - self.len();
        let capacity = self.capacity.max(roomy(self.len(), size));
        let spare = capacity - self.len();
        let other = elsewhere.min(spare / 4);
        let front = if end == End::Back { other } else { spare - other };
        if capacity == self.capacity {
            let first = self.block.wrapping_add(size.of(front));
            // SAFETY: in front of and behind the elements there is as much room as is spare.
            unsafe { ptr::copy(self.head.dense, first, size.of(self.len())) };
            self.head.dense = first;
            return Some(());
        }
        if front == 0 && !self.block.is_null() {
            // SAFETY: the block is of that capacity. With no room in front the elements begin where it does.
            let block = unsafe { heap.reallocate(self.block, size.of(self.capacity), size.of(capacity)) };
            if block.is_null() {
                return None;
            }
            (self.block, self.head.dense, self.capacity) = (block, block, capacity);
            return Some(());
        }
        // SAFETY: in front of and behind the elements there is as much room as is spare.
        unsafe { self.relocate(heap, size, capacity, front) }
    }

    /// Moves to a new block, with room for `front` elements before the first one. `None`: there is no memory.
    ///
    /// # Safety
    /// The capacity is enough for those and the elements.
    unsafe fn relocate(&mut self, heap: &mut Heap, size: Size, capacity: usize, front: usize) -> Option<()> {
        let block = heap.allocate(size.of(capacity));
        if block.is_null() {
            return None;
        }
        let first = block.wrapping_add(size.of(front));
        if !self.block.is_null() {
            // SAFETY: the new block has room for them; nothing is left in the old one, which is of that capacity.
            unsafe {
                ptr::copy_nonoverlapping(self.head.dense, first, size.of(self.len()));
                heap.free(self.block, size.of(self.capacity));
            }
        }
        (self.block, self.head.dense, self.capacity) = (block, first, capacity);
        Some(())
    }
}

fn is_within((low, length): (i64, u64), key: i64) -> bool {
    (key.wrapping_sub(low) as u64) < length
}

/// The least room for growing.
fn reserve(size: Size) -> usize {
    if size.is_byte() { 16 } else { 4 }
}

/// A capacity with room for half as many elements again.
fn roomy(length: usize, size: Size) -> usize {
    let capacity = length + length / 2 + reserve(size);
    if size.is_byte() { capacity.next_multiple_of(8) } else { capacity }
}
