//! The allocator for all that a program uses: processes, components, frames, texts, collections.
//!
//! Each worker has a [`Heap`] of its own, with a free list for each size, and all heaps share one [`Memory`]. A small
//! block has no header: its size is given again when it is freed, which any worker may do. Where a worker frees more
//! blocks of a size than it allocates, they go in batches to the shared memory, and from there to other workers, so
//! that a producer and its consumer never need more than what is alive and a few batches. Nothing on the usual path is
//! atomic.
//!
//! The limit counts bytes in use, not bytes got from the platform. Each worker takes its part of it in steps of
//! [`CREDIT`], so it is kept to within two of those for each worker.
//!
//! # Why this is sound
//! A block is either in use, and then it is not touched here, or it stands in exactly one list, which belongs to one
//! worker or is under a lock. Lists run through the free blocks themselves, which are large enough (16 bytes) and
//! aligned (8). Chunks live until all their blocks are free and a sweep has found that out ([`surplus`]), or until the
//! last heap and the last user of [`Memory`] are gone.

mod block;
mod carving;
mod family;
mod large;
pub mod late;
mod memory;
mod spent;
mod surplus;
mod sweep;

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::ptr::{self, null_mut};

use self::block::{
    BATCH, CLASSES, Content, FIRST_CHUNK, LARGEST_CHUNK, LEAST, STEP, batch_bytes, class_of, size_of_class,
};
use self::family::Families;
use self::memory::{Chunk, Free};
use self::sweep::Sweep;

pub use self::block::SMALL;
pub use self::memory::{CREDIT, Memory};

/// A worker's part of the memory.
pub struct Heap {
    /// Bytes that this worker may still use without asking.
    credit: isize,
    lists: [List; CLASSES],
    fresh: *mut u8,
    fresh_end: *mut u8,
    next_chunk: usize,
    /// Where other workers may take over some of what is allocated.
    families: Option<Box<Families>>,
    memory: Arc<Memory>,
    /// The sweep that is going on.
    sweep: Option<Box<Sweep>>,
    /// The last gathering in which this worker has kept nothing.
    gathering: usize,
}

/// Free blocks of one size: those in use now, and a full batch or none.
#[derive(Clone, Copy)]
struct List {
    first: *mut Free,
    bytes: usize,
    spare: *mut Free,
}

const EMPTY: List = List { first: null_mut(), bytes: 0, spare: null_mut() };

// SAFETY: a heap's lists are its own.
unsafe impl Send for Heap {}

impl Heap {
    /// The heap of one more worker.
    pub fn new(memory: Arc<Memory>) -> Heap {
        memory.count_heap(true);
        let (lists, fresh, fresh_end) = ([EMPTY; CLASSES], null_mut(), null_mut());
        let next_chunk = FIRST_CHUNK;
        Heap {
            credit: 0,
            lists,
            fresh,
            fresh_end,
            next_chunk,
            families: None,
            memory,
            sweep: None,
            gathering: 0,
        }
    }

    /// From now on, families have blocks together: see [`Heap::allocate_zeroed_for`].
    pub fn keep_families_apart(&mut self) {
        self.families = Some(Box::new(Families::new()));
    }

    /// What all heaps share.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Whether other workers may touch what this one can reach. Then counts of holders must change atomically.
    #[inline]
    pub fn is_shared(&self) -> bool {
        self.memory.some_are_away()
    }

    /// Bytes in use by the program, as exactly as one worker can know.
    pub fn live(&self) -> usize {
        self.memory.granted().saturating_add_signed(-self.credit)
    }

    /// A block of so many bytes, aligned to 8, its contents undefined. Null: there is no more memory.
    #[inline]
    pub fn allocate(&mut self, bytes: usize) -> *mut u8 {
        self.allocate_for(bytes, 0)
    }

    /// A block full of zero. Null: there is no more memory.
    #[inline]
    pub fn allocate_zeroed(&mut self, bytes: usize) -> *mut u8 {
        self.allocate_zeroed_for(bytes, 0)
    }

    /// The same for a component or process: near others of its family, which is any number; 0: it has none.
    #[inline]
    pub fn allocate_zeroed_for(&mut self, bytes: usize, family: usize) -> *mut u8 {
        if bytes > SMALL {
            return self.allocate_large(bytes, Content::Zero);
        }
        let block = self.allocate_for(bytes, family);
        if !block.is_null() {
            // SAFETY: the block was just allocated, with that size.
            unsafe { ptr::write_bytes(block, 0, bytes) };
        }
        block
    }

    #[inline]
    fn allocate_for(&mut self, bytes: usize, family: usize) -> *mut u8 {
        if bytes > SMALL {
            return self.allocate_large(bytes, Content::Undefined);
        }
        let class = class_of(bytes);
        let list = &mut self.lists[class];
        let block = list.first;
        self.credit -= size_of_class(class) as isize;
        if block.is_null() || self.credit < 0 {
            return self.allocate_slowly(class, family);
        }
        // SAFETY: blocks in the list are free.
        list.first = unsafe { (*block).next };
        list.bytes -= size_of_class(class);
        block.cast()
    }

    /// Takes a block back.
    ///
    /// # Safety
    /// `block` is of `bytes` bytes, came from a heap of the same memory, and is not used any more.
    #[inline]
    pub unsafe fn free(&mut self, block: *mut u8, bytes: usize) {
        if bytes > SMALL {
            // SAFETY: the caller promises that the block came from this memory with that size, and isn't used any more.
            return unsafe { self.free_large(block, bytes) };
        }
        let class = class_of(bytes);
        let size = size_of_class(class);
        let list = &mut self.lists[class];
        let block = block.cast::<Free>();
        // SAFETY: the caller promises that the block isn't used any more, so only this heap uses it.
        unsafe {
            if cfg!(debug_assertions) {
                ptr::write_bytes(block.cast::<u8>(), 0xDD, size);
            }
            (*block).next = list.first;
        }
        list.first = block;
        list.bytes += size;
        self.credit += size as isize;
        if list.bytes >= BATCH || self.credit > 2 * CREDIT {
            self.hand_over(class);
        }
    }

    /// Changes a block's size, keeping what fits; the block may move. Null: there is no more memory, and the block
    /// is as it was.
    ///
    /// # Safety
    /// `block` is of `old` bytes, and came from a heap of the same memory. Unless the answer is null, it is not used
    /// any more under this address.
    pub unsafe fn reallocate(&mut self, block: *mut u8, old: usize, new: usize) -> *mut u8 {
        if old > SMALL && new > SMALL {
            // SAFETY: the caller promises that the block came from this memory with that size.
            return unsafe { self.reallocate_large(block, old, new) };
        }
        let moved = self.allocate(new);
        if !moved.is_null() {
            // SAFETY: two different blocks.
            unsafe {
                ptr::copy_nonoverlapping(block, moved, old.min(new));
                self.free(block, old);
            }
        }
        moved
    }

    /// For what frees memory in the end but needs some first, and must not fail: if an attempt fails, tries again with
    /// more credit, beyond the limit. Credit that was not used is given back at once.
    ///
    /// # Panics
    /// Credit doesn't help: the platform has no more memory.
    #[inline]
    pub fn beyond_the_limit<T>(&mut self, mut attempt: impl FnMut(&mut Heap) -> Option<T>) -> T {
        match attempt(self) {
            Some(done) => done,
            None => self.overdraw_for(attempt),
        }
    }

    #[cold]
    fn overdraw_for<T>(&mut self, mut attempt: impl FnMut(&mut Heap) -> Option<T>) -> T {
        let mut more = CREDIT;
        loop {
            assert!(more < 1 << 40, "the system is out of memory");
            self.memory.overdraw(more as usize);
            self.credit += more;
            let done = attempt(self);
            let unused = self.credit.clamp(0, more);
            self.memory.give_back(unused as usize);
            self.credit -= unused;
            match done {
                Some(done) => return done,
                None => more *= 2,
            }
        }
    }

    /// Puts a value into a block of its own, whatever the limit says: see [`Heap::beyond_the_limit`].
    pub fn keep<T>(&mut self, value: T) -> *mut T {
        const { assert!(align_of::<T>() <= STEP) };
        let block = self.beyond_the_limit(|heap| {
            let block = heap.allocate(size_of::<T>()).cast::<T>();
            (!block.is_null()).then_some(block)
        });
        // SAFETY: the block was just allocated, with that size.
        unsafe { block.write(value) };
        block
    }

    /// Takes a value out of its block, which is freed.
    ///
    /// # Safety
    /// `block` comes from [`Heap::keep`] of the same memory, and is not used any more.
    pub unsafe fn take_back<T>(&mut self, block: *mut T) -> T {
        // SAFETY: the block holds a value, and is as large as that.
        unsafe {
            let value = block.read();
            self.free(block.cast(), size_of::<T>());
            value
        }
    }

    /// Allocates where there is no free block at hand, or no credit left. The block's size has been taken from the
    /// credit.
    #[cold]
    #[inline(never)]
    fn allocate_slowly(&mut self, class: usize, family: usize) -> *mut u8 {
        let size = size_of_class(class);
        if self.credit < 0 && !self.borrow() {
            self.credit += size as isize;
            return null_mut();
        }
        let mut block = self.take(class);
        if block.is_null() {
            block = self.carve_for(size, family);
        }
        if block.is_null() && self.end_sweep() {
            block = self.take(class);
        }
        if block.is_null() {
            self.credit += size as isize;
        }
        block
    }

    /// A free block, from the spare batch or the pool if there is none at hand.
    fn take(&mut self, class: usize) -> *mut u8 {
        let list = &mut self.lists[class];
        if list.first.is_null() && !list.spare.is_null() {
            (list.first, list.spare, list.bytes) = (list.spare, null_mut(), batch_bytes(class));
        }
        if list.first.is_null() {
            list.first = self.memory.take_batch(class);
            list.bytes = if list.first.is_null() { 0 } else { batch_bytes(class) };
        }
        let block = list.first;
        if !block.is_null() {
            // SAFETY: blocks in the list are free.
            list.first = unsafe { (*block).next };
            list.bytes -= size_of_class(class);
        }
        block.cast()
    }

    /// Cuts a block from the fresh part of the chunk.
    fn carve(&mut self, size: usize) -> *mut u8 {
        if (self.fresh_end as usize) - (self.fresh as usize) < size {
            let bytes = self.next_chunk;
            let chunk = self.memory.new_chunk(bytes);
            if chunk.is_null() {
                return chunk.cast();
            }
            self.keep_remainder();
            self.next_chunk = (2 * bytes).min(LARGEST_CHUNK);
            // SAFETY: both lie in the chunk, or just behind it.
            unsafe {
                self.fresh = chunk.cast::<u8>().add(size_of::<Chunk>());
                self.fresh_end = chunk.cast::<u8>().add(bytes);
            }
        }
        let block = self.fresh;
        // SAFETY: there is that much left.
        self.fresh = unsafe { block.add(size) };
        block
    }

    /// Frees what is left of the chunk.
    fn keep_remainder(&mut self) {
        let (fresh, end) = (self.fresh, self.fresh_end);
        self.fresh = end;
        // SAFETY: nothing has been cut from there yet, and nothing will be.
        unsafe { self.free_fresh(fresh, end) };
    }

    /// Makes free blocks of fresh memory; less than the smallest block is lost.
    ///
    /// # Safety
    /// All between the two is of one chunk, and nobody else uses it.
    unsafe fn free_fresh(&mut self, mut fresh: *mut u8, end: *mut u8) {
        loop {
            let left = end.addr() - fresh.addr();
            if left < LEAST {
                return;
            }
            let size = match left {
                ..=SMALL => left,
                // The last block is no smaller than the smallest.
                _ => SMALL.min(left - LEAST),
            };
            // SAFETY: the block is fresh memory, of the size of a class since everything is in steps.
            unsafe { self.free(fresh, size) };
            self.credit -= size as isize;
            fresh = fresh.wrapping_add(size);
        }
    }

    /// A list has grown to a batch, or the credit is large: gives some of it to the shared memory.
    #[cold]
    #[inline(never)]
    fn hand_over(&mut self, class: usize) {
        let list = &mut self.lists[class];
        if list.bytes >= BATCH {
            let full = core::mem::replace(&mut list.spare, list.first);
            (list.first, list.bytes) = (null_mut(), 0);
            if !full.is_null() {
                // SAFETY: the spare batch was this worker's.
                unsafe { self.memory.put_batch(class, full) };
            }
        }
        self.repay();
    }

    /// This worker has nothing to do: if free blocks are being gathered, those here go to the shared memory.
    pub fn rest(&mut self) {
        let Some(number) = self.memory.gathering() else { return };
        self.retire();
        if self.gathering != number {
            self.gathering = number;
            self.memory.count_retired();
        }
    }

    /// All that is free here goes to the shared memory.
    pub fn retire(&mut self) {
        self.end_runs();
        for (class, list) in self.lists.iter_mut().enumerate() {
            let List { first, spare, .. } = core::mem::replace(list, EMPTY);
            for blocks in [first, spare] {
                if !blocks.is_null() {
                    // SAFETY: the blocks were this worker's, and are free.
                    unsafe { self.memory.put_batch(class, blocks) };
                }
            }
        }
    }

    /// Ends a sweep now, because there are no other blocks; whether one was going on.
    #[cold]
    fn end_sweep(&mut self) -> bool {
        let Some(mut sweep) = self.sweep.take() else { return false };
        sweep.end(&self.memory);
        true
    }

    /// Takes more credit; false if the limit is reached.
    fn borrow(&mut self) -> bool {
        let granted = self.memory.grant(self.credit.unsigned_abs());
        self.credit += granted.unwrap_or(0) as isize;
        granted.is_some()
    }

    fn repay(&mut self) {
        if self.credit > 2 * CREDIT {
            self.memory.give_back((self.credit - CREDIT) as usize);
            self.credit = CREDIT;
        }
    }
}

impl Drop for Heap {
    /// Gives free blocks and credit to the shared memory.
    fn drop(&mut self) {
        self.retire();
        self.memory.give_back(self.credit as usize);
        self.memory.count_heap(false);
    }
}

#[cfg(test)]
#[path = "heap_tests.rs"]
mod tests;
