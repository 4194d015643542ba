//! What a collection that is no array consists of: its dense part, the rest, and what has oversized keys. See the
//! collection module.

use core::ops::ControlFlow;
use core::ptr;

use super::dense::{Dense, End};
use super::keys::Key;
use super::oversized::Oversized;
use super::rest::{Haste, Rest};
use super::shape::Shape;
use crate::heap::Heap;
use crate::long::Caller;

/// A collection.
#[repr(C)]
pub struct Store {
    /// What generated code knows comes first.
    dense: Dense,
    rest: Rest,
    oversized: Oversized,
}

/// How many moves to the dense part each insertion pays for.
pub const PAID: u32 = 2;
/// The most elements that are moved at once.
const AT_ONCE: usize = 64;

impl Store {
    /// An empty collection. `None`: there is no memory.
    pub fn make(heap: &mut Heap) -> Option<*mut Store> {
        let store = heap.allocate(size_of::<Store>()) as *mut Store;
        if store.is_null() {
            return None;
        }
        let empty = Store { dense: Dense::EMPTY, rest: Rest::EMPTY, oversized: Oversized::EMPTY };
        // SAFETY: the block is fresh, and has room for it.
        unsafe { store.write(empty) };
        Some(store)
    }

    /// The element with a key. Others may run between parts of long texts.
    #[inline]
    pub fn find(&self, by: Caller, shape: Shape, key: Key) -> Option<*mut u8> {
        if self.dense.len() > 0 {
            if let Some(index) = self.dense.index(key.number()) {
                return Some(self.dense.at(index, shape.size));
            }
            if self.dense.has_gaps() {
                return self.find_beside(shape, key);
            }
        }
        if !self.oversized.is_empty() {
            return self.find_among_oversized(by, shape, key);
        }
        self.rest.find(shape.keys, key).map(|cell| cell.cast())
    }

    /// The same where some keys are oversized.
    #[cold]
    #[inline(never)]
    fn find_among_oversized(&self, by: Caller, shape: Shape, key: Key) -> Option<*mut u8> {
        let found = if shape.keys.is_oversized(key) {
            self.oversized.find(by, shape.keys, key)
        } else {
            self.rest.find(shape.keys, key)
        };
        found.map(|cell| cell.cast())
    }

    #[cold]
    fn find_beside(&self, shape: Shape, key: Key) -> Option<*mut u8> {
        let beside = self.dense.beside(key.number(), shape.size);
        beside.or_else(|| self.rest.find(shape.keys, key).map(|cell| cell.cast()))
    }

    #[inline]
    fn find_dense(&self, shape: Shape, key: Key) -> Option<*mut u8> {
        if self.dense.len() == 0 {
            return None;
        }
        self.dense.index(key.number()).map(|index| self.dense.at(index, shape.size))
    }

    /// Finds or makes the element with a key. `None`: there is no memory, or it is not settled, or the key is
    /// oversized.
    #[inline]
    pub fn insert(&mut self, heap: &mut Heap, shape: Shape, key: Key) -> Option<*mut u8> {
        if !shape.keys.is_number() {
            if shape.keys.is_oversized(key) {
                return None;
            }
            return Some(self.rest.insert(heap, shape.keys, key, Haste::InParts)?.cell.cast());
        }
        if let Some(element) = self.find_dense(shape, key) {
            return Some(element);
        }
        if self.dense.has_gaps() {
            return self.insert_beside(heap, shape, key);
        }
        self.insert_outside(heap, shape, key)
    }

    #[cold]
    fn insert_beside(&mut self, heap: &mut Heap, shape: Shape, key: Key) -> Option<*mut u8> {
        if let Some(element) = self.dense.fill(key.number(), shape.size) {
            return Some(element);
        }
        self.dense.open(shape.size);
        let element = self.insert_outside(heap, shape, key);
        self.dense.close(shape.size);
        element
    }

    /// Whether some keys are oversized.
    #[inline]
    pub fn has_oversized(&self) -> bool {
        !self.oversized.is_empty()
    }

    /// The same as [`Store::insert`] for an oversized key. While other processes run between parts of it, no reference
    /// to the heap is held.
    ///
    /// # Safety
    /// *Searched in parts:* `store` and `heap` are live, and belong to the worker that calls. Other processes that run
    /// meanwhile may search the collection, but not change it.
    #[cold]
    pub unsafe fn insert_oversized(
        store: *mut Store,
        by: Caller,
        heap: *mut Heap,
        shape: Shape,
        key: Key,
    ) -> Option<*mut u8> {
        // SAFETY: both are live; while they are borrowed to be changed nobody else runs.
        unsafe {
            let place = (*store).oversized.place(by, shape.keys, key);
            let cell = (*store).oversized.insert(&mut *heap, shape.keys, key, place)?;
            Some(cell.cast())
        }
    }

    /// Removes the element with a key where some are oversized, and answers what it held, likewise.
    ///
    /// # Safety
    /// *Searched in parts*: see [`Store::insert_oversized`].
    #[cold]
    #[inline(never)]
    pub unsafe fn remove_among_oversized(
        store: *mut Store,
        by: Caller,
        heap: *mut Heap,
        shape: Shape,
        key: Key,
    ) -> Option<u64> {
        // SAFETY: both are live; while they are borrowed to be changed nobody else runs.
        unsafe {
            if !shape.keys.is_oversized(key) {
                return (*store).remove(&mut *heap, shape, key);
            }
            let place = (*store).oversized.place(by, shape.keys, key);
            (*store).oversized.remove(&mut *heap, shape.keys, place)
        }
    }

    /// Where the key does not lie in the dense part.
    #[inline]
    fn insert_outside(&mut self, heap: &mut Heap, shape: Shape, key: Key) -> Option<*mut u8> {
        match self.dense.end_at(key.number()) {
            Some(end) if self.rest.is_empty() => self.extend(heap, shape, key, end),
            Some(end) => self.insert_at_end(heap, shape, key, end),
            None => self.insert_elsewhere(heap, shape, key),
        }
    }

    #[inline]
    fn extend(&mut self, heap: &mut Heap, shape: Shape, key: Key, end: End) -> Option<*mut u8> {
        self.rest.paid = self.rest.paid.saturating_add(PAID);
        if self.dense.len() == 0 {
            // SAFETY: the dense part is empty.
            return unsafe { self.dense.start(heap, shape.size, key.number()) };
        }
        self.dense.extend(heap, shape.size, end)
    }

    fn insert_at_end(&mut self, heap: &mut Heap, shape: Shape, key: Key, end: End) -> Option<*mut u8> {
        if let Some(cell) = self.rest.find(shape.keys, key) {
            return Some(cell.cast());
        }
        self.extend(heap, shape, key, end)?;
        self.absorb(heap, shape);
        if self.is_settled() { self.find_dense(shape, key) } else { None }
    }

    fn insert_elsewhere(&mut self, heap: &mut Heap, shape: Shape, key: Key) -> Option<*mut u8> {
        if self.rest.is_small_and_full() && !self.rest.has(shape.keys, key) {
            self.restart(heap, shape);
            if let Some(end) = self.dense.end_at(key.number()) {
                return self.insert_at_end(heap, shape, key, end);
            }
        }
        let inserted = self.rest.insert(heap, shape.keys, key, Haste::InParts)?;
        if inserted.is_new {
            self.rest.paid = self.rest.paid.saturating_add(PAID);
        }
        Some(inserted.cell.cast())
    }

    /// Whether no elements are to be moved, neither to the dense part nor into a tree.
    #[inline]
    pub fn is_settled(&self) -> bool {
        !self.rest.has_neighbours && !self.rest.is_sorting()
    }

    /// Moves some elements that are to be moved; whether that is all.
    pub fn settle(&mut self, heap: &mut Heap, shape: Shape) -> bool {
        if self.rest.is_sorting() {
            self.rest.sort_some(heap, shape.keys);
            return self.is_settled();
        }
        if self.is_settled() {
            // Another process has done it meanwhile.
            return true;
        }
        self.dense.open(shape.size);
        self.absorb(heap, shape);
        self.dense.close(shape.size);
        self.is_settled()
    }

    /// Moves elements whose keys have become neighbours of the dense part there, but not too many at once.
    #[cold]
    fn absorb(&mut self, heap: &mut Heap, shape: Shape) {
        self.rest.has_neighbours = false;
        let mut left = AT_ONCE;
        for end in [End::Front, End::Back] {
            while let Some(number) = self.dense.neighbour(end)
                && self.rest.paid > 0
                && self.rest.has(shape.keys, number_key(&number))
            {
                let Some(element) = self.dense.extend(heap, shape.size, end) else { return };
                let word = self.rest.remove(heap, shape.keys, number_key(&number)).unwrap_or(0);
                // SAFETY: the element was made just now.
                unsafe { shape.size.write(element, word) };
                self.rest.paid -= 1;
                left -= 1;
                if left == 0 {
                    self.rest.has_neighbours = true;
                    return;
                }
            }
        }
    }

    /// If the few elements of the rest have a longer range without gaps than the dense part, that range becomes the
    /// dense part. Without memory it stops half-way.
    #[cold]
    fn restart(&mut self, heap: &mut Heap, shape: Shape) {
        let (low, length) = self.rest.longest_range(shape.keys);
        if length <= self.dense.len() {
            return;
        }
        while self.dense.len() > 0 {
            // SAFETY: the dense part isn't empty.
            if !unsafe { self.retreat(heap, shape, End::Back) } {
                return;
            }
        }
        // SAFETY: the dense part is empty by now.
        let Some(element) = (unsafe { self.dense.start(heap, shape.size, low) }) else { return };
        let word = self.rest.remove(heap, shape.keys, number_key(&low)).unwrap_or(0);
        // SAFETY: the element was made just now.
        unsafe { shape.size.write(element, word) };
        self.rest.paid = self.rest.paid.saturating_add(length as u32);
        self.absorb(heap, shape);
    }

    /// Moves the dense element at an end to the rest. False if there is no memory.
    ///
    /// # Safety
    /// There is one.
    unsafe fn retreat(&mut self, heap: &mut Heap, shape: Shape, end: End) -> bool {
        let index = if end == End::Front { 0 } else { self.dense.len() - 1 };
        let number = self.dense.low().wrapping_add(index as i64);
        let key = number_key(&number);
        let Some(inserted) = self.rest.insert(heap, shape.keys, key, Haste::AtOnce) else { return false };
        // SAFETY: the dense part isn't empty, and the cell was found or made just now.
        unsafe { *inserted.cell = self.dense.take(heap, shape.size, end) };
        true
    }

    /// Removes the element with a key and answers what it held.
    pub fn remove(&mut self, heap: &mut Heap, shape: Shape, key: Key) -> Option<u64> {
        if self.dense.has_gaps() {
            return self.remove_among_gaps(heap, shape, key);
        }
        let index = if self.dense.len() == 0 { None } else { self.dense.index(key.number()) };
        let Some(index) = index else { return self.rest.remove(heap, shape.keys, key) };
        let behind = self.dense.len() - 1 - index;
        let (end, shorter) = if index < behind { (End::Front, index) } else { (End::Back, behind) };
        if shorter > AT_ONCE {
            // SAFETY: the key is there, and there are others on both sides of it.
            return Some(unsafe { self.dense.punch(key.number(), shape.size) });
        }
        for _ in 0..shorter {
            // SAFETY: the key is still there.
            heap.beyond_the_limit(|heap| unsafe { self.retreat(heap, shape, end) }.then_some(()));
        }
        // SAFETY: the key is the one at that end now.
        Some(unsafe { self.dense.take(heap, shape.size, end) })
    }

    /// The same where keys are missing in the dense part. If most are, its elements go to the rest one after the other.
    #[cold]
    fn remove_among_gaps(&mut self, heap: &mut Heap, shape: Shape, key: Key) -> Option<u64> {
        let number = key.number();
        let (low, length) = self.dense.whole();
        let index = number.wrapping_sub(low) as u64;
        if index >= length {
            return self.rest.remove(heap, shape.keys, key);
        }
        self.dense.beside(number, shape.size)?;
        if index > 0 && index + 1 < length {
            // SAFETY: the key is there, and is neither the first nor the last one.
            let word = unsafe { self.dense.punch(number, shape.size) };
            self.dense.open(shape.size);
            for _ in 0..AT_ONCE {
                // SAFETY: while keys are missing there are a first and a last one.
                if !self.dense.is_thin() || !unsafe { self.retreat(heap, shape, End::Back) } {
                    break;
                }
            }
            self.dense.close(shape.size);
            return Some(word);
        }
        self.dense.open(shape.size);
        let end = if index == 0 { End::Front } else { End::Back };
        // SAFETY: the key at that end is there.
        let word = unsafe { self.dense.take(heap, shape.size, end) };
        self.dense.close(shape.size);
        Some(word)
    }

    /// Whether the order of some elements isn't known yet.
    #[inline]
    pub fn is_unordered(&self) -> bool {
        self.rest.is_unordered()
    }

    /// Begins to sort them: see [`Store::settle`].
    pub fn begin_sorting(&mut self, heap: &mut Heap, shape: Shape) {
        self.rest.begin_sorting(heap, shape.keys);
    }

    /// Sets `to` to the smallest key above `after`, or of all, and answers its element. While other processes run
    /// between parts of long texts, no reference to the heap is held.
    ///
    /// # Safety
    /// *Searched in parts*: see [`Store::insert_oversized`]. The words at `to` are a key that holds its texts.
    #[inline]
    pub unsafe fn next(
        store: *mut Store,
        by: Caller,
        heap: *mut Heap,
        shape: Shape,
        after: Option<Key>,
        to: *mut u64,
    ) -> Option<*mut u8> {
        // SAFETY: both are live; while they are borrowed to be changed nobody else runs, and what is oversized stays.
        unsafe {
            let oversized = (*store).oversized.after(by, shape.keys, after);
            (*store).next_of_all(&mut *heap, shape, after, oversized, to)
        }
    }

    /// The same, where the next one of the oversized keys is known.
    ///
    /// # Safety
    /// The words at `to` are a key that holds its texts.
    unsafe fn next_of_all(
        &mut self,
        heap: &mut Heap,
        shape: Shape,
        after: Option<Key>,
        oversized: Option<(Key, *mut u64)>,
        to: *mut u64,
    ) -> Option<*mut u8> {
        let dense = if self.dense.len() > 0 {
            self.dense.after(after.map(|key| key.number()), shape.size)
        } else {
            None
        };
        let rest = if self.rest.is_empty() { None } else { self.rest.after(heap, shape.keys, after) };
        let Some((key, cell)) = shape.keys.first(rest, oversized) else {
            let (key, element) = dense?;
            // SAFETY: there is a word for the number, which holds nothing.
            unsafe { to.write(key as u64) };
            return Some(element);
        };
        match dense {
            Some((number, element)) if number < key.number() => {
                // SAFETY: there is a word for the number, which holds nothing.
                unsafe { to.write(number as u64) };
                Some(element)
            }
            _ => {
                shape.keys.hold(heap, key);
                // SAFETY: the old element held its texts, as the new one does.
                unsafe {
                    shape.keys.drop(heap, to);
                    ptr::copy_nonoverlapping(key.as_ptr(), to, shape.keys.width());
                }
                Some(cell.cast())
            }
        }
    }

    /// Shows every key and its element, in the order of the keys, until told to stop.
    pub fn visit<B>(
        &self,
        shape: Shape,
        show: &mut dyn FnMut(&[u64], *mut u8) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if !self.oversized.is_empty() {
            return self.visit_with_oversized(shape, show);
        }
        let (low, length) = self.dense.whole();
        let mut is_shown = length == 0;
        self.rest.visit_in_order(shape.keys, &mut |key, cell| {
            if !is_shown && key.number() > low {
                is_shown = true;
                self.visit_dense(shape, show)?;
            }
            show(shape.keys.words(key), cell.cast())
        })?;
        if is_shown { ControlFlow::Continue(()) } else { self.visit_dense(shape, show) }
    }

    /// The same where keys are oversized, so that none is a number.
    #[cold]
    fn visit_with_oversized<B>(
        &self,
        shape: Shape,
        show: &mut dyn FnMut(&[u64], *mut u8) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let keys = shape.keys;
        let mut show = |key: Key, cell: *mut u64| show(keys.words(key), cell.cast());
        let mut next = self.oversized.after(Caller::HASTY, keys, None);
        self.rest.visit_in_order(keys, &mut |key, cell| {
            while let Some((large, its)) = next
                && keys.compare(large, key).is_lt()
            {
                show(large, its)?;
                next = self.oversized.after(Caller::HASTY, keys, Some(large));
            }
            show(key, cell)
        })?;
        while let Some((large, its)) = next {
            show(large, its)?;
            next = self.oversized.after(Caller::HASTY, keys, Some(large));
        }
        ControlFlow::Continue(())
    }

    fn visit_dense<B>(
        &self,
        shape: Shape,
        show: &mut dyn FnMut(&[u64], *mut u8) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut next = self.dense.after(None, shape.size);
        while let Some((key, element)) = next {
            show(&[key as u64], element)?;
            next = self.dense.after(Some(key), shape.size);
        }
        ControlFlow::Continue(())
    }

    /// Shows the elements in the order of the keys, neighbours together: the first, and how many. Where keys are
    /// missing there is zero.
    pub fn ranges(&self, shape: Shape, show: &mut dyn FnMut(*mut u8, usize)) {
        if !self.oversized.is_empty() {
            let _ = self.visit_with_oversized::<()>(shape, &mut |_, cell| {
                show(cell, 1);
                ControlFlow::Continue(())
            });
            return;
        }
        let (low, length) = self.dense.whole();
        let (first, length) = (self.dense.of(low, shape.size), length as usize);
        let mut is_shown = length == 0;
        self.rest.ranges(shape.keys, &mut |words, cells, count| {
            let mut from = 0;
            if !is_shown {
                // SAFETY: where there is a dense part each key is a number, and so many of them are shown.
                let is_below = |&index: &usize| unsafe { (*words.add(index) as i64) < low };
                from = (0..count).take_while(is_below).count();
                show(cells.cast(), from);
                if from < count {
                    is_shown = true;
                    show(first, length);
                }
            }
            show(cells.wrapping_add(from).cast(), count - from);
        });
        if !is_shown {
            show(first, length);
        }
    }

    /// Frees a collection with all that it holds, until it is enough; whether all is done.
    ///
    /// # Safety
    /// `store` is live, and nobody else uses it. After `true` it is gone.
    pub unsafe fn free_until(
        store: *mut Store,
        heap: &mut Heap,
        shape: Shape,
        is_enough: &mut dyn FnMut() -> bool,
    ) -> bool {
        // SAFETY: the store is live, and nobody else uses it.
        let this = unsafe { &mut *store };
        let is_done = this.dense.free_until(heap, shape, is_enough)
            && this.rest.free_until(heap, shape, is_enough)
            && this.oversized.free_until(heap, shape, is_enough);
        if is_done {
            // SAFETY: nothing is left in the store.
            unsafe { heap.free(store.cast(), size_of::<Store>()) };
        }
        is_done
    }
}

/// The key of a collection with a dense part: one number.
#[inline]
fn number_key(number: &i64) -> Key<'_> {
    // SAFETY: a dense part is only made where each key is one number.
    unsafe { Key::new(ptr::from_ref(number).cast()) }
}
