//! Large blocks: each comes from the Rust allocator, with a head by which it stands in the list of [`Memory`].
//!
//! [`Memory`]: super::Memory

use alloc::alloc::{alloc, alloc_zeroed, dealloc, realloc};
use core::ptr::null_mut;

use super::Heap;
use super::block::{Content, SMALL};
use super::memory::{Large, large_layout};

impl Heap {
    /// Makes a large block smaller; what is left is larger than [`SMALL`], too. It may move.
    ///
    /// # Safety
    /// `block` is of `old` bytes, and came from a heap of the same memory. It is not used any more under this address.
    pub unsafe fn shrink(&mut self, block: *mut u8, old: usize, new: usize) -> *mut u8 {
        debug_assert!(SMALL < new && new <= old);
        self.beyond_the_limit(|heap| {
            // SAFETY: the caller promises that the block came from this memory with that size; each attempt but the
            // last leaves it as it was.
            let moved = unsafe { heap.reallocate_large(block, old, new) };
            (!moved.is_null()).then_some(moved)
        })
    }

    #[cold]
    #[inline(never)]
    pub(super) fn allocate_large(&mut self, bytes: usize, content: Content) -> *mut u8 {
        let Some(layout) = large_layout(bytes) else { return null_mut() };
        self.credit -= bytes as isize;
        if self.credit < 0 && !self.borrow() {
            self.credit += bytes as isize;
            return null_mut();
        }
        // SAFETY: the size is not 0.
        let block = unsafe {
            match content {
                Content::Undefined => alloc(layout),
                Content::Zero => alloc_zeroed(layout),
            }
        } as *mut Large;
        if block.is_null() {
            self.credit += bytes as isize;
            return null_mut();
        }
        // SAFETY: the block is new, in no list, and has room for the head.
        unsafe {
            (*block).bytes = bytes;
            self.memory.enlist(block);
            block.add(1).cast()
        }
    }

    /// Takes a large block back.
    ///
    /// # Safety
    /// As for [`Heap::free`].
    #[cold]
    pub(super) unsafe fn free_large(&mut self, block: *mut u8, bytes: usize) {
        // SAFETY: the head stands before the block, and says that it is of this layout.
        unsafe {
            let block = block.cast::<Large>().sub(1);
            debug_assert_eq!((*block).bytes, bytes);
            self.memory.delist(block);
            dealloc(block.cast(), large_layout(bytes).unwrap_unchecked());
        }
        self.credit += bytes as isize;
        self.repay();
    }

    /// Changes the size of a large block to that of another one.
    ///
    /// # Safety
    /// As for [`Heap::reallocate`].
    pub(super) unsafe fn reallocate_large(&mut self, block: *mut u8, old: usize, new: usize) -> *mut u8 {
        let Some(layout) = large_layout(new) else { return null_mut() };
        let growth = new as isize - old as isize;
        self.credit -= growth;
        if self.credit < 0 && !self.borrow() {
            self.credit += growth;
            return null_mut();
        }
        // SAFETY: the head stands before the block; while it moves nobody can find it in the list.
        unsafe {
            let block = block.cast::<Large>().sub(1);
            self.memory.delist(block);
            let moved =
                realloc(block.cast(), large_layout(old).unwrap_unchecked(), layout.size()) as *mut Large;
            if moved.is_null() {
                self.memory.enlist(block);
                self.credit += growth;
            } else {
                (*moved).bytes = new;
                self.memory.enlist(moved);
            }
            self.repay();
            if moved.is_null() { null_mut() } else { moved.add(1).cast() }
        }
    }
}
