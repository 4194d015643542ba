//! Very large blocks are given back in parts when they are freed, because the kernel takes a tenth of a second for a
//! gigabyte.
//!
//! # Why this is sound
//! A block in the list of late ones is not used any more, and its head says how large it still is.

use alloc::alloc::{dealloc, realloc};
use core::sync::atomic::Ordering;

use super::Heap;
use super::block::SMALL;
use super::memory::{Large, large_layout};

/// So many bytes are given back at once.
pub const PART: usize = if cfg!(miri) { 1 << 10 } else { 1 << 20 };
/// A block with more bytes is very large.
pub const LARGE: usize = 4 * PART;

impl Heap {
    /// Takes back a block that may be very large: it counts as free, and its memory is given back with
    /// [`Heap::free_late`].
    ///
    /// # Safety
    /// As for [`Heap::free`].
    #[inline]
    pub unsafe fn free_in_parts(&mut self, block: *mut u8, bytes: usize) {
        // SAFETY: the caller promises that the block came from this memory with that size, and isn't used any more.
        unsafe {
            if bytes <= SMALL { self.free(block, bytes) } else { self.free_large_in_parts(block, bytes) }
        }
    }

    /// The same for a large block.
    ///
    /// # Safety
    /// As for [`Heap::free`].
    #[cold]
    unsafe fn free_large_in_parts(&mut self, block: *mut u8, bytes: usize) {
        // SAFETY: the head of a large block stands before it; it goes from one list to the other.
        unsafe {
            if bytes <= LARGE {
                return self.free_large(block, bytes);
            }
            let block = block.cast::<Large>().sub(1);
            self.memory.delist(block);
            self.memory.put_late(block);
        }
        self.credit += bytes as isize;
        self.repay();
    }

    /// Whether there are blocks of which parts are to be given back.
    #[inline]
    pub fn has_late(&self) -> bool {
        self.memory.late_bytes.load(Ordering::Relaxed) != 0
    }

    /// Gives parts of such blocks back, one at least, until it is enough; whether there are more.
    pub fn free_late(&self, is_enough: &mut dyn FnMut(usize) -> bool) -> bool {
        while let Some(block) = self.memory.take_late() {
            // SAFETY: the block was taken from the list, so nothing else uses it.
            let left = unsafe { (*block).bytes.saturating_sub(PART) };
            // SAFETY: the block is of that layout. One that can't be made smaller goes as a whole.
            unsafe {
                let layout = large_layout((*block).bytes).unwrap_unchecked();
                let smaller = match large_layout(left) {
                    Some(smaller) if left != 0 => {
                        realloc(block.cast(), layout, smaller.size()).cast::<Large>()
                    }
                    _ => core::ptr::null_mut(),
                };
                if smaller.is_null() {
                    dealloc(block.cast(), layout);
                } else {
                    (*smaller).bytes = left;
                    self.memory.put_late(smaller);
                }
            }
            if is_enough(PART) {
                return self.has_late();
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::Memory;
    use super::*;

    #[test]
    fn a_very_large_block_counts_as_free_at_once_and_goes_in_parts() {
        let memory = Memory::new(usize::MAX, None);
        let mut heap = Heap::new(memory);
        let bytes = 5 * PART + 5;
        let before = heap.live();
        let block = heap.allocate(bytes);
        assert!(!block.is_null());
        // SAFETY: the block is ours, and that large.
        unsafe {
            block.add(bytes - 1).write(1);
            heap.free_in_parts(block, bytes);
        }
        assert!(heap.live() <= before + 2 * super::super::CREDIT as usize);
        let mut parts = 0;
        while heap.has_late() {
            heap.free_late(&mut |_| true);
            parts += 1;
        }
        assert_eq!(parts, 6);
    }

    #[test]
    fn what_is_left_goes_with_the_memory() {
        let mut heap = Heap::new(Memory::new(usize::MAX, None));
        let block = heap.allocate(LARGE + 1);
        // SAFETY: the block is ours, and that large.
        unsafe { heap.free_in_parts(block, LARGE + 1) };
        assert!(heap.has_late());
    }
}
