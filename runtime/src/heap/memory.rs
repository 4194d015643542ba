//! What the heaps of all workers share: the limit, the chunks, the pool of free blocks in batches, and the large
//! blocks.
//!
//! # Why this is sound
//! Each chain and list of blocks is under its lock. Chunks and large blocks that are left are freed together with the
//! memory, when no heap is left that could use them.

use alloc::alloc::{Layout, alloc, dealloc};
use alloc::sync::Arc;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicUsize, Ordering};

use super::block::{CLASSES, STEP};
use crate::spin::Spin;
use crate::threads::Threads;

/// A worker's step in taking from, and giving back to, what all may use.
pub const CREDIT: isize = 64 << 10;

/// What the heaps of all workers share.
pub struct Memory {
    source: Option<&'static dyn Threads>,
    limit: usize,
    granted: AtomicUsize,
    peak: AtomicUsize,
    away: AtomicUsize,
    pool: [Spin<*mut Free>; CLASSES],
    chunks: Spin<*mut Chunk>,
    chunk_bytes: AtomicUsize,
    large: Spin<*mut Large>,
    /// Changes under the lock of that list.
    large_bytes: AtomicUsize,
    /// Large blocks that are given back in parts.
    late: Spin<*mut Large>,
    /// Changes under the lock of that list.
    pub(super) late_bytes: AtomicUsize,
    /// Blocks in use whose content is still to be dropped.
    spent: Spin<*mut Free>,
    /// How many these are; changes under the lock of that list.
    spent_blocks: AtomicUsize,
    heaps: AtomicUsize,
    departures: AtomicUsize,
    /// Counts gatherings: odd while workers that are idle shall keep no free blocks.
    gatherings: AtomicUsize,
    /// How many workers have given up their free blocks in this gathering.
    retired: AtomicUsize,
}

/// A free block.
pub(super) struct Free {
    pub(super) next: *mut Free,
    /// In the pool: the next batch, in the first block of each.
    batch: *mut Free,
}

/// A free block that a sweep holds.
pub(super) struct Held {
    pub(super) next: *mut Held,
    pub(super) class: usize,
}

/// The head of a chunk.
pub(super) struct Chunk {
    previous: *mut Chunk,
    /// Only the worker that frees chunks changes it.
    pub(super) next: *mut Chunk,
    pub(super) bytes: usize,
}

/// The head of a large block.
pub(super) struct Large {
    previous: *mut Large,
    next: *mut Large,
    pub(super) bytes: usize,
}

// SAFETY: the lock around these pointers protects the blocks to which they lead.
unsafe impl Send for Memory {}
// SAFETY: the lock around these pointers protects the blocks to which they lead; the rest is atomic or never changes.
unsafe impl Sync for Memory {}

impl Memory {
    /// Memory of which at most `limit` bytes are in use at any time. Chunks come from the platform, or from the Rust
    /// allocator if there is none.
    pub fn new(limit: usize, source: Option<&'static dyn Threads>) -> Arc<Memory> {
        Arc::new(Memory {
            source,
            limit,
            granted: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            away: AtomicUsize::new(0),
            pool: [const { Spin::new(null_mut()) }; CLASSES],
            chunks: Spin::new(null_mut()),
            chunk_bytes: AtomicUsize::new(0),
            large: Spin::new(null_mut()),
            large_bytes: AtomicUsize::new(0),
            late: Spin::new(null_mut()),
            late_bytes: AtomicUsize::new(0),
            spent: Spin::new(null_mut()),
            spent_blocks: AtomicUsize::new(0),
            heaps: AtomicUsize::new(0),
            departures: AtomicUsize::new(0),
            gatherings: AtomicUsize::new(0),
            retired: AtomicUsize::new(0),
        })
    }

    /// At most so many bytes are in use; `usize::MAX`: as many as the platform has.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Bytes in use, together with the credit that workers have left.
    pub fn granted(&self) -> usize {
        self.granted.load(Ordering::Relaxed)
    }

    /// The most that [`Memory::granted`] ever was.
    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// One more process is about to run away from home: until it is back, blocks may be shared between workers.
    pub fn depart(&self) {
        self.away.fetch_add(1, Ordering::Relaxed);
        self.departures.fetch_add(1, Ordering::Relaxed);
    }

    /// A process that ran away from home is back there.
    pub fn come_back(&self) {
        self.away.fetch_sub(1, Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn some_are_away(&self) -> bool {
        self.away.load(Ordering::Relaxed) != 0
    }

    /// Takes `needed` bytes from the limit, and a step more if there is that much; answers what it took.
    pub(super) fn grant(&self, needed: usize) -> Option<usize> {
        [needed.saturating_add(CREDIT as usize), needed].into_iter().find(|&wanted| {
            let take = |now: usize| now.checked_add(wanted).filter(|&sum| sum <= self.limit);
            match self.granted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
                Ok(before) => {
                    self.peak.fetch_max(before + wanted, Ordering::Relaxed);
                    true
                }
                Err(_) => false,
            }
        })
    }

    pub(super) fn overdraw(&self, bytes: usize) {
        let before = self.granted.fetch_add(bytes, Ordering::Relaxed);
        self.peak.fetch_max(before + bytes, Ordering::Relaxed);
    }

    pub(super) fn give_back(&self, bytes: usize) {
        self.granted.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// A chunk of which all but the head may be used.
    pub(super) fn new_chunk(&self, bytes: usize) -> *mut Chunk {
        let chunk = match self.source {
            Some(platform) => platform.allocate(bytes),
            // SAFETY: the size is not 0.
            None => unsafe { alloc(chunk_layout(bytes)) },
        } as *mut Chunk;
        if !chunk.is_null() {
            self.chunk_bytes.fetch_add(bytes, Ordering::Relaxed);
            let mut first = self.chunks.lock();
            // SAFETY: the chunk is fresh and larger than its head; chunks in the list are live, and this link is under
            // its lock.
            unsafe {
                chunk.write(Chunk { previous: null_mut(), next: *first, bytes });
                if !first.is_null() {
                    // No reference: a sweep may be reading the rest of it.
                    (**first).previous = chunk;
                }
            }
            *first = chunk;
        }
        chunk
    }

    /// The first of the list of chunks. New chunks come before it; only [`Memory::free_chunk`] takes one out.
    pub(super) fn first_chunk(&self) -> *mut Chunk {
        *self.chunks.lock()
    }

    /// Bytes of all chunks.
    pub(super) fn chunk_bytes(&self) -> usize {
        self.chunk_bytes.load(Ordering::Relaxed)
    }

    /// Bytes of all large blocks.
    pub(super) fn large_bytes(&self) -> usize {
        self.large_bytes.load(Ordering::Relaxed)
    }

    /// There is one heap more, or one less.
    pub(super) fn count_heap(&self, more: bool) {
        self.heaps.fetch_add(if more { 1 } else { usize::MAX }, Ordering::Relaxed);
    }

    /// Begins a gathering: from now on, workers that are idle keep no free blocks. Answers how many processes have gone
    /// away so far.
    pub fn begin_gathering(&self) -> usize {
        self.retired.store(0, Ordering::SeqCst);
        self.gatherings.fetch_or(1, Ordering::SeqCst);
        self.departures.load(Ordering::Relaxed)
    }

    /// Ends the gathering.
    pub fn end_gathering(&self) {
        let _ = self
            .gatherings
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |now| Some(now.next_multiple_of(2)));
    }

    /// Whether all other workers have given up their free blocks and been idle since a gathering began, when that many
    /// processes had gone away.
    pub fn is_quiet_since(&self, departures: usize) -> bool {
        !self.some_are_away()
            && self.departures.load(Ordering::Relaxed) == departures
            && self.retired.load(Ordering::SeqCst) + 1 >= self.heaps.load(Ordering::Relaxed)
    }

    /// The number of the gathering that is going on.
    pub(super) fn gathering(&self) -> Option<usize> {
        Some(self.gatherings.load(Ordering::SeqCst)).filter(|number| number % 2 != 0)
    }

    pub(super) fn count_retired(&self) {
        self.retired.fetch_add(1, Ordering::SeqCst);
    }

    /// Gives a chunk back to where it came from.
    ///
    /// # Safety
    /// The chunk came from [`Memory::new_chunk`]. None of its blocks is in use, or in a list of free ones. Only one
    /// worker frees chunks.
    pub(super) unsafe fn free_chunk(&self, chunk: *mut Chunk) {
        // SAFETY: chunks in the list are live, and their links are under its lock.
        let bytes = unsafe {
            let mut first = self.chunks.lock();
            let Chunk { previous, next, bytes } = *chunk;
            match previous.as_mut() {
                Some(previous) => previous.next = next,
                None => *first = next,
            }
            if let Some(next) = next.as_mut() {
                next.previous = previous;
            }
            bytes
        };
        self.chunk_bytes.fetch_sub(bytes, Ordering::Relaxed);
        // SAFETY: the chunk is in the list no more, and its head said how large it is.
        unsafe { self.release(chunk, bytes) };
    }

    /// Gives the memory of a chunk back.
    ///
    /// # Safety
    /// [`Memory::new_chunk`] made it, of that many bytes, and it is not used any more.
    unsafe fn release(&self, chunk: *mut Chunk, bytes: usize) {
        // SAFETY: the chunk came from the same source, with the same size.
        unsafe {
            match self.source {
                Some(platform) => platform.free(chunk.cast(), bytes),
                None => dealloc(chunk.cast(), chunk_layout(bytes)),
            }
        }
    }

    /// Puts a batch into the pool.
    ///
    /// # Safety
    /// `blocks` is a chain of free blocks of this class that is in no other list.
    pub(super) unsafe fn put_batch(&self, class: usize, blocks: *mut Free) {
        let mut pool = self.pool[class].lock();
        // SAFETY: the chain is in no other list.
        unsafe { (*blocks).batch = *pool };
        *pool = blocks;
    }

    /// Takes a batch out of the pool; null if there is none.
    pub(super) fn take_batch(&self, class: usize) -> *mut Free {
        let mut pool = self.pool[class].lock();
        let batch = *pool;
        if !batch.is_null() {
            // SAFETY: batches in the pool are free and under its lock.
            *pool = unsafe { (*batch).batch };
        }
        batch
    }

    /// Puts a block into the list of those that are spent.
    ///
    /// # Safety
    /// `block` is in use, of a pointer at least, and in no list; only this list uses its first word from now on.
    pub(super) unsafe fn put_spent(&self, block: *mut Free) {
        let mut first = self.spent.lock();
        // SAFETY: nothing else uses the first word.
        unsafe { (&raw mut (*block).next).write(*first) };
        *first = block;
        self.spent_blocks.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes a block out of that list; null if there is none.
    pub(super) fn take_spent(&self) -> *mut Free {
        let mut first = self.spent.lock();
        let block = *first;
        if !block.is_null() {
            // SAFETY: blocks in the list are live, and their first words are under its lock.
            *first = unsafe { (&raw const (*block).next).read() };
            self.spent_blocks.fetch_sub(1, Ordering::Relaxed);
        }
        block
    }

    /// Whether there are any in it.
    #[inline]
    pub(super) fn has_spent(&self) -> bool {
        self.spent_blocks.load(Ordering::Relaxed) != 0
    }

    /// Puts a large block into the list of those in use.
    ///
    /// # Safety
    /// `block` is a live large block in no list, its `bytes` are set.
    pub(super) unsafe fn enlist(&self, block: *mut Large) {
        let mut first = self.large.lock();
        // SAFETY: blocks in the list are live and their links under its lock.
        unsafe {
            (*block).previous = null_mut();
            (*block).next = *first;
            if let Some(next) = first.as_mut() {
                next.previous = block;
            }
            self.large_bytes.store(self.large_bytes() + (*block).bytes, Ordering::Relaxed);
        }
        *first = block;
    }

    /// Takes a large block out of that list.
    ///
    /// # Safety
    /// `block` stands in the list.
    pub(super) unsafe fn delist(&self, block: *mut Large) {
        let mut first = self.large.lock();
        // SAFETY: blocks in the list are live and their links under its lock.
        unsafe {
            let Large { previous, next, bytes } = *block;
            self.large_bytes.store(self.large_bytes() - bytes, Ordering::Relaxed);
            match previous.as_mut() {
                Some(previous) => previous.next = next,
                None => *first = next,
            }
            if let Some(next) = next.as_mut() {
                next.previous = previous;
            }
        }
    }

    /// Puts a large block into the list of those that are given back in parts.
    ///
    /// # Safety
    /// `block` is a large block in no list, its `bytes` are set, and it is not used any more.
    pub(super) unsafe fn put_late(&self, block: *mut Large) {
        let mut first = self.late.lock();
        // SAFETY: the block is live, and in no other list.
        unsafe {
            (*block).next = *first;
            self.late_bytes
                .store(self.late_bytes.load(Ordering::Relaxed) + (*block).bytes, Ordering::Relaxed);
        }
        *first = block;
    }

    /// Takes one out of that list.
    pub(super) fn take_late(&self) -> Option<*mut Large> {
        let mut first = self.late.lock();
        let block = *first;
        // SAFETY: blocks in the list are nobody else's.
        let (next, bytes) = unsafe { block.as_ref().map(|block| (block.next, block.bytes))? };
        *first = next;
        self.late_bytes.store(self.late_bytes.load(Ordering::Relaxed) - bytes, Ordering::Relaxed);
        Some(block)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let mut chunk = *self.chunks.get_mut();
        while !chunk.is_null() {
            // SAFETY: every chunk was made by `new_chunk`, and no heap is left that could use it.
            unsafe {
                let Chunk { next, bytes, .. } = chunk.read();
                self.release(chunk, bytes);
                chunk = next;
            }
        }
        for mut block in [*self.large.get_mut(), *self.late.get_mut()] {
            while !block.is_null() {
                // SAFETY: every block was made by `allocate_large`, and nobody is left who could use it.
                unsafe {
                    let Large { next, bytes, .. } = block.read();
                    dealloc(block.cast(), large_layout(bytes).unwrap_unchecked());
                    block = next;
                }
            }
        }
    }
}

fn chunk_layout(bytes: usize) -> Layout {
    // SAFETY: a chunk's size is a power of two far below the address space.
    unsafe { Layout::from_size_align_unchecked(bytes, STEP) }
}

/// `None`: no address space is that large.
pub(super) fn large_layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(size_of::<Large>())?, STEP).ok()
}
