//! `{ARRAY}` collections: fixed bounds, one block, elements row by row. They are all there from the beginning, so an
//! array is never inserted into; what is removed from it becomes zero again.
//!
//! The block holds the head, the sizes, and the elements.

use alloc::vec;
use core::ops::ControlFlow;
use core::slice;

use crate::heap::Heap;
use crate::layout::{ArrayHead, Fault};

use super::keys::Key;
use super::shape::{Shape, Size};

const HEAD: usize = size_of::<ArrayHead>();

/// An array that has been made. Its block is as large as its sizes say, and these never change.
#[derive(Clone, Copy)]
pub struct Array {
    head: *mut ArrayHead,
    dimensions: usize,
    size: Size,
}

impl Array {
    /// The array with this head.
    ///
    /// # Safety
    /// [`Array::make`] made it, with as many sizes and elements of that size, and it is not freed as long as the result
    /// is used.
    pub unsafe fn new(head: *mut ArrayHead, dimensions: usize, size: Size) -> Array {
        Array { head, dimensions, size }
    }

    /// Makes an array full of zero.
    pub fn make(heap: &mut Heap, sizes: &[i64], size: Size) -> Result<*mut ArrayHead, Fault> {
        if sizes.iter().any(|&size| size < 0) {
            return Err(Fault::InvalidArgument);
        }
        let count = if sizes.contains(&0) {
            Some(0)
        } else {
            sizes.iter().try_fold(1usize, |count, &size| count.checked_mul(size as usize))
        };
        let before = elements_at(sizes.len());
        let bytes = count
            .and_then(|count| count.checked_mul(size.of(1))?.checked_add(before))
            .ok_or(Fault::OutOfMemory)?;
        let block = heap.allocate_zeroed(bytes);
        if block.is_null() {
            return Err(Fault::OutOfMemory);
        }
        let head = block.cast::<ArrayHead>();
        // SAFETY: the block is fresh, and has room for the head, the sizes and the elements.
        unsafe {
            head.write(ArrayHead { elements: block.add(before), count: count.unwrap_or(0) as u64 });
            block.add(HEAD).cast::<i64>().copy_from_nonoverlapping(sizes.as_ptr(), sizes.len());
        }
        Ok(head)
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        // SAFETY: the array is live.
        unsafe { (*self.head).count as usize }
    }

    /// The element at an index, row by row.
    pub fn at(&self, index: usize) -> *mut u8 {
        // SAFETY: the array is live.
        unsafe { (*self.head).elements.wrapping_add(self.size.of(index)) }
    }

    /// The element with a key. `None`: out of bounds.
    #[inline]
    pub fn find(&self, key: Key) -> Option<*mut u8> {
        let mut index = 0;
        for (i, &size) in self.sizes().iter().enumerate() {
            // SAFETY: a key has a word for each dimension.
            let key = unsafe { key.word(i) };
            if key >= size {
                return None;
            }
            index = index * size as usize + key as usize;
        }
        Some(self.at(index))
    }

    /// The index of the first element whose key is above `key`, or of all, which may be the number of elements.
    pub fn after(&self, key: Option<Key>) -> usize {
        let Some(key) = key else { return 0 };
        let mut index = 0;
        let mut row = self.count();
        for (i, &size) in self.sizes().iter().enumerate() {
            if size == 0 {
                return 0;
            }
            row /= size as usize;
            // SAFETY: a key has a word for each dimension.
            let key = unsafe { key.word(i) as i64 };
            // Where the key is out of bounds, all rows before it, or none, are below it.
            match key {
                below if below < 0 => return index,
                above if above as u64 >= size => return index + size as usize * row,
                inside => index += inside as usize * row,
            }
        }
        index + 1
    }

    /// Sets `key` to the key of the element at an index.
    ///
    /// # Safety
    /// A word for each dimension may be written there.
    pub unsafe fn key_at(&self, mut index: usize, key: *mut u64) {
        for (i, &size) in self.sizes().iter().enumerate().rev() {
            // SAFETY: there is a word for each dimension.
            unsafe { *key.add(i) = index as u64 % size };
            index /= size as usize;
        }
    }

    /// Shows every key and its element until told to stop.
    pub fn visit<B>(&self, show: &mut dyn FnMut(&[u64], *mut u8) -> ControlFlow<B>) -> ControlFlow<B> {
        let mut key = vec![0; self.dimensions];
        for index in 0..self.count() {
            // SAFETY: there is a word for each dimension.
            unsafe { self.key_at(index, key.as_mut_ptr()) };
            show(&key, self.at(index))?;
        }
        ControlFlow::Continue(())
    }

    /// Frees the elements from the last on until it is enough, and then the block; whether all is done. The block
    /// shrinks meanwhile, and may move.
    ///
    /// # Safety
    /// `cell` holds the array, which nobody else uses; components in it are gone. After `true` the array is, too.
    pub unsafe fn free_until(
        mut self,
        heap: &mut Heap,
        shape: Shape,
        cell: *mut *mut u8,
        is_enough: &mut dyn FnMut() -> bool,
    ) -> bool {
        let bytes = |count| elements_at(self.dimensions) + shape.size.of(count);
        loop {
            let (count, left) = (self.count(), shape.without_piece(self.count()));
            // SAFETY: the elements behind `left` are not used again; the block is as large as its count says.
            unsafe {
                shape.drop_range(heap, self.at(left), count - left);
                if left == 0 {
                    heap.free(*cell, bytes(count));
                    return true;
                }
                *cell = heap.shrink(*cell, bytes(count), bytes(left));
                self.head = (*cell).cast();
                let elements = (*cell).add(elements_at(self.dimensions));
                self.head.write(ArrayHead { elements, count: left as u64 });
            }
            if is_enough() {
                return false;
            }
        }
    }

    fn sizes(&self) -> &[u64] {
        // SAFETY: as many sizes as there are dimensions stand behind the head, and never change.
        unsafe { slice::from_raw_parts(self.head.cast::<u8>().add(HEAD).cast(), self.dimensions) }
    }
}

fn elements_at(dimensions: usize) -> usize {
    HEAD + 8 * dimensions
}
