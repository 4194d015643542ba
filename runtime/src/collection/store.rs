//! What a collection that is no array consists of: its dense part and the rest. See the collection module.
//!
//! # Why this is sound
//! See the collection module.
#![allow(unsafe_op_in_unsafe_fn)]

use core::ops::{ControlFlow, Range};
use core::ptr;
use core::slice;

use super::Shape;
use super::dense::{self, Dense, End};
use super::keys::Key;
use super::rest::Rest;
use crate::heap::Heap;

/// A collection.
#[repr(C)]
pub struct Store {
    /// What generated code knows comes first.
    dense: Dense,
    rest: Rest,
}

/// For so many moves each insertion pays.
pub const PAID: u32 = 2;

impl Store {
    /// An empty collection. `None`: there is no memory.
    pub unsafe fn make(heap: &mut Heap) -> Option<*mut Store> {
        let store = heap.allocate(size_of::<Store>()) as *mut Store;
        if store.is_null() {
            return None;
        }
        store.write(Store { dense: Dense::EMPTY, rest: Rest::EMPTY });
        Some(store)
    }

    /// The element with a key.
    #[inline]
    pub unsafe fn find(&self, shape: Shape, key: Key) -> Option<*mut u8> {
        match self.find_dense(shape, key) {
            None => self.rest.find(shape.keys, key).map(|cell| cell.cast()),
            element => element,
        }
    }

    #[inline]
    unsafe fn find_dense(&self, shape: Shape, key: Key) -> Option<*mut u8> {
        if self.dense.len() == 0 {
            return None;
        }
        self.dense.index(*key as i64).map(|index| self.dense.at(index, shape.size))
    }

    /// Finds or makes the element with a key. `None`: there is no memory.
    #[inline]
    pub unsafe fn insert(&mut self, heap: &mut Heap, shape: Shape, key: Key) -> Option<*mut u8> {
        if !shape.keys.is_number() {
            return Some(self.rest.insert(heap, shape.keys, key)?.cell.cast());
        }
        if let Some(element) = self.find_dense(shape, key) {
            return Some(element);
        }
        match self.dense.end_at(*key as i64) {
            Some(end) if self.rest.is_empty() => self.extend(heap, shape, key, end),
            Some(end) => self.insert_at_end(heap, shape, key, end),
            None => self.insert_elsewhere(heap, shape, key),
        }
    }

    #[inline]
    unsafe fn extend(&mut self, heap: &mut Heap, shape: Shape, key: Key, end: End) -> Option<*mut u8> {
        self.rest.paid = self.rest.paid.saturating_add(PAID);
        if self.dense.len() == 0 {
            return self.dense.start(heap, shape.size, *key as i64);
        }
        self.dense.extend(heap, shape.size, end)
    }

    unsafe fn insert_at_end(&mut self, heap: &mut Heap, shape: Shape, key: Key, end: End) -> Option<*mut u8> {
        if let Some(cell) = self.rest.find(shape.keys, key) {
            return Some(cell.cast());
        }
        self.extend(heap, shape, key, end)?;
        self.absorb(heap, shape);
        self.find_dense(shape, key)
    }

    unsafe fn insert_elsewhere(&mut self, heap: &mut Heap, shape: Shape, key: Key) -> Option<*mut u8> {
        if self.rest.is_small_and_full() && !self.rest.has(shape.keys, key) {
            self.restart(heap, shape);
            if let Some(end) = self.dense.end_at(*key as i64) {
                return self.insert_at_end(heap, shape, key, end);
            }
        }
        let inserted = self.rest.insert(heap, shape.keys, key)?;
        if inserted.is_new {
            self.rest.paid = self.rest.paid.saturating_add(PAID);
        }
        Some(inserted.cell.cast())
    }

    /// Moves elements whose keys have become neighbours of the dense part there.
    #[cold]
    unsafe fn absorb(&mut self, heap: &mut Heap, shape: Shape) {
        for end in [End::Front, End::Back] {
            while let Some(key) = self.dense.neighbour(end).map(|key| key as u64)
                && self.rest.paid > 0
                && self.rest.has(shape.keys, &key)
            {
                let Some(element) = self.dense.extend(heap, shape.size, end) else { return };
                let word = self.rest.remove(heap, shape.keys, &key).unwrap_or(0);
                dense::write(element, shape.size, word);
                self.rest.paid -= 1;
            }
        }
    }

    /// If the few elements of the rest have a longer range without gaps than the dense part, that becomes the dense
    /// part. Where there is no memory, it stops half-way.
    #[cold]
    unsafe fn restart(&mut self, heap: &mut Heap, shape: Shape) {
        let (low, length) = self.rest.longest_range(shape.keys);
        if length <= self.dense.len() {
            return;
        }
        while self.dense.len() > 0 {
            if !self.retreat(heap, shape, End::Back) {
                return;
            }
        }
        let Some(element) = self.dense.start(heap, shape.size, low) else { return };
        let word = self.rest.remove(heap, shape.keys, &(low as u64)).unwrap_or(0);
        dense::write(element, shape.size, word);
        self.rest.paid = self.rest.paid.saturating_add(length as u32);
        self.absorb(heap, shape);
    }

    /// Moves the dense element at an end to the rest. False if there is no memory.
    unsafe fn retreat(&mut self, heap: &mut Heap, shape: Shape, end: End) -> bool {
        let index = if end == End::Front { 0 } else { self.dense.len() - 1 };
        let key = self.dense.low().wrapping_add(index as i64) as u64;
        let Some(inserted) = self.rest.insert(heap, shape.keys, &key) else { return false };
        *inserted.cell = self.dense.take(heap, shape.size, end);
        true
    }

    /// Removes the element with a key and answers what it held.
    pub unsafe fn remove(&mut self, heap: &mut Heap, shape: Shape, key: Key) -> Option<u64> {
        let index = if self.dense.len() == 0 { None } else { self.dense.index(*key as i64) };
        let Some(index) = index else { return self.rest.remove(heap, shape.keys, key) };
        let behind = self.dense.len() - 1 - index;
        let (end, shorter) = if index < behind { (End::Front, index) } else { (End::Back, behind) };
        for _ in 0..shorter {
            while !self.retreat(heap, shape, end) {
                heap.overdraw();
            }
        }
        Some(self.dense.take(heap, shape.size, end))
    }

    /// Sets `to` to the smallest key above `after`, or of all, and answers its element.
    pub unsafe fn next(
        &mut self,
        heap: &mut Heap,
        shape: Shape,
        after: Option<Key>,
        to: *mut u64,
    ) -> Option<*mut u8> {
        let dense = if self.dense.len() == 0 { None } else { self.dense.after(after.map(|key| *key as i64)) };
        let rest = if self.rest.is_empty() { None } else { self.rest.after(heap, shape.keys, after) };
        let Some((key, cell)) = rest else {
            let (key, index) = dense?;
            to.write(key as u64);
            return Some(self.dense.at(index, shape.size));
        };
        match dense {
            Some((number, index)) if number < *key as i64 => {
                to.write(number as u64);
                Some(self.dense.at(index, shape.size))
            }
            _ => {
                shape.keys.hold(heap, key);
                shape.keys.drop(heap, to);
                ptr::copy_nonoverlapping(key, to, shape.keys.width());
                Some(cell.cast())
            }
        }
    }

    /// Shows every key and its element, in the order of the keys, until told to stop.
    pub unsafe fn visit<B>(
        &self,
        shape: Shape,
        show: &mut dyn FnMut(&[u64], *mut u8) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut dense = Some(0..self.dense.len()).filter(|range| !range.is_empty());
        self.rest.visit_in_order(shape.keys, &mut |key, cell| {
            if let Some(range) = dense.take_if(|_| *key as i64 > self.dense.low()) {
                self.visit_dense(shape, range, show)?;
            }
            show(slice::from_raw_parts(key, shape.keys.width()), cell.cast())
        })?;
        self.visit_dense(shape, dense.unwrap_or(0..0), show)
    }

    unsafe fn visit_dense<B>(
        &self,
        shape: Shape,
        range: Range<usize>,
        show: &mut dyn FnMut(&[u64], *mut u8) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        for index in range {
            let key = self.dense.low().wrapping_add(index as i64) as u64;
            show(&[key], self.dense.at(index, shape.size))?;
        }
        ControlFlow::Continue(())
    }

    /// Shows the elements in the order of the keys, neighbours together: the first, and how many.
    pub unsafe fn ranges(&self, shape: Shape, show: &mut dyn FnMut(*mut u8, usize)) {
        let (low, length) = (self.dense.low(), self.dense.len());
        let mut is_shown = length == 0;
        self.rest.ranges(shape.keys, &mut |keys, cells, count| {
            let mut from = 0;
            if !is_shown {
                from = (0..count).take_while(|&index| (*keys.add(index) as i64) < low).count();
                show(cells.cast(), from);
                if from < count {
                    is_shown = true;
                    show(self.dense.at(0, shape.size), length);
                }
            }
            show(cells.add(from).cast(), count - from);
        });
        if !is_shown {
            show(self.dense.at(0, shape.size), length);
        }
    }

    /// Frees a collection with all that it holds, until it is enough; whether all is done.
    pub unsafe fn free_until(
        store: *mut Store,
        heap: &mut Heap,
        shape: Shape,
        is_enough: &mut dyn FnMut() -> bool,
    ) -> bool {
        let this = &mut *store;
        let is_done =
            this.dense.free_until(heap, shape, is_enough) && this.rest.free_until(heap, shape, is_enough);
        if is_done {
            heap.free(store.cast(), size_of::<Store>());
        }
        is_done
    }
}
