//! Memory that a program doesn't need any more goes back to where it came from: chunks of which all blocks are free.
//!
//! Nobody counts while blocks come and go. When much more is free than in use, a *sweep* takes the free blocks out of
//! the pool and sorts them by their chunks; then chunks that are free as a whole go back, and the blocks of all others
//! into the pool again. It does so in portions, while the program runs. Nobody can have a block that a sweep holds, so
//! it gathers no more as soon as a new chunk is wanted.
//!
//! # Why this is sound
//! A sweep holds blocks that nobody else knows, each in one list. Together with what is lost at the end of a chunk,
//! less than any block takes, they are all of it only if none is in use, is in another list, or has not been carved
//! yet.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ptr::null_mut;

use super::memory::{Chunk, Free, Held, Memory};
use super::{BATCH, CLASSES, Heap, LARGEST_CHUNK, LEAST, size_of_class};

/// So much may be free before anybody cares.
const SLACK: usize = 2 * LARGEST_CHUNK;
/// Blocks that are put back between two looks at the time.
const PORTION: usize = 256;

/// What is done, and to do.
pub(super) struct Sweep {
    /// By address.
    chunks: Vec<Swept>,
    /// Where the last block was found.
    last: usize,
    /// Bytes of all chunks at the beginning.
    bytes: usize,
    stage: Stage,
    /// What goes back to the pool, by class.
    back: [Batch; CLASSES],
}

/// A chunk.
struct Swept {
    chunk: *mut Chunk,
    bytes: usize,
    /// Its free blocks, as far as they have been found.
    blocks: *mut Held,
    free: usize,
}

enum Stage {
    /// The blocks of this class and the next ones are taken out of the pool.
    Gather(usize),
    /// The same again, for what has become free meanwhile.
    GatherAgain(usize),
    /// This chunk and the next ones go back, or their blocks.
    GiveBack(usize),
}

/// A part of a batch.
#[derive(Clone, Copy)]
struct Batch {
    first: *mut Free,
    bytes: usize,
}

const NOTHING: Batch = Batch { first: null_mut(), bytes: 0 };

impl Heap {
    /// Bytes of chunks that nobody uses.
    pub fn unused(&self) -> usize {
        let small = self.live().saturating_sub(self.memory.large_bytes());
        self.memory.chunk_bytes().saturating_sub(small)
    }

    /// Whether much more is unused than used, and another sweep may give more back than the last one, which left that
    /// much: either there is more by now, or much is gone of what was in use when that began, and kept other blocks'
    /// chunks.
    pub fn has_surplus(&self, left: usize, live: usize) -> bool {
        let unused = self.unused();
        let is_more = unused > left + left / 4 + SLACK / 2;
        let is_less_used = self.live() < live / 4 * 3;
        unused > self.memory.chunk_bytes() / 2 + SLACK / 2 && (is_more || is_less_used)
    }

    /// Whether a sweep is going on.
    pub fn is_swept(&self) -> bool {
        self.sweep.is_some()
    }

    /// Begins a sweep, if none is going on, or goes on with it until the time is over. Only one worker does that.
    /// `true`: it has ended.
    pub fn sweep(&mut self, is_over: &mut dyn FnMut() -> bool) -> bool {
        let mut sweep = self.sweep.take().unwrap_or_else(|| {
            self.retire();
            Box::new(Sweep::new(&self.memory))
        });
        while sweep.step(self) {
            if is_over() {
                self.sweep = Some(sweep);
                return false;
            }
        }
        true
    }

    /// Ends a sweep now, because there are no other blocks; whether one was going on.
    #[cold]
    pub(super) fn end_sweep(&mut self) -> bool {
        let Some(mut sweep) = self.sweep.take() else { return false };
        sweep.stop_gathering();
        while sweep.step(self) {}
        true
    }
}

impl Sweep {
    fn new(memory: &Memory) -> Sweep {
        let mut chunks = Vec::new();
        let mut chunk = memory.first_chunk();
        while !chunk.is_null() {
            // SAFETY: chunks live until this worker frees them; others only change the link that isn't read.
            let (next, bytes) = unsafe { ((*chunk).next, (*chunk).bytes) };
            chunks.push(Swept { chunk, bytes, blocks: null_mut(), free: 0 });
            chunk = next;
        }
        chunks.sort_unstable_by_key(|swept| swept.chunk);
        let stage = Stage::Gather(0);
        Sweep { chunks, last: 0, bytes: memory.chunk_bytes(), stage, back: [NOTHING; CLASSES] }
    }

    /// Does a little; `false`: all is done.
    fn step(&mut self, heap: &mut Heap) -> bool {
        match self.stage {
            Stage::GiveBack(index) if index == self.chunks.len() => {
                self.put_all_back(&heap.memory);
                return false;
            }
            Stage::GiveBack(index) => {
                if self.give_back(&heap.memory, index) {
                    self.stage = Stage::GiveBack(index + 1);
                }
            }
            Stage::Gather(_) | Stage::GatherAgain(_) if heap.memory.chunk_bytes() > self.bytes => {
                self.stop_gathering();
            }
            Stage::Gather(CLASSES) => {
                heap.retire();
                self.stage = Stage::GatherAgain(0);
            }
            Stage::GatherAgain(CLASSES) => self.stop_gathering(),
            Stage::Gather(class) => {
                if !self.gather(&heap.memory, class) {
                    self.stage = Stage::Gather(class + 1);
                }
            }
            Stage::GatherAgain(class) => {
                if !self.gather(&heap.memory, class) {
                    self.stage = Stage::GatherAgain(class + 1);
                }
            }
        }
        true
    }

    fn stop_gathering(&mut self) {
        if !matches!(self.stage, Stage::GiveBack(_)) {
            self.stage = Stage::GiveBack(0);
        }
    }

    /// Takes a batch out of the pool; `false`: there is none.
    fn gather(&mut self, memory: &Memory, class: usize) -> bool {
        let mut block = memory.take_batch(class);
        if block.is_null() {
            return false;
        }
        while !block.is_null() {
            // SAFETY: the batch is ours.
            let next = unsafe { (*block).next };
            match self.find(block as usize) {
                Some(index) => self.hold(index, block, class),
                None => self.put_back(memory, block, class),
            }
            block = next;
        }
        true
    }

    /// The chunk of a block; `None`: it is younger than the sweep.
    fn find(&mut self, block: usize) -> Option<usize> {
        if !self.chunks.get(self.last)?.contains(block) {
            self.last = self.chunks.partition_point(|swept| swept.chunk as usize <= block).checked_sub(1)?;
        }
        self.chunks[self.last].contains(block).then_some(self.last)
    }

    fn hold(&mut self, index: usize, block: *mut Free, class: usize) {
        let swept = &mut self.chunks[index];
        let block = block.cast::<Held>();
        // SAFETY: the block is ours.
        unsafe { block.write(Held { next: swept.blocks, class }) };
        swept.blocks = block;
        swept.free += size_of_class(class);
    }

    /// Frees a chunk, or puts a portion of its blocks back; `true`: that is done.
    fn give_back(&mut self, memory: &Memory, index: usize) -> bool {
        if self.chunks[index].is_free() {
            // SAFETY: as the head of this file says.
            unsafe { memory.free_chunk(self.chunks[index].chunk) };
            return true;
        }
        for _ in 0..PORTION {
            let block = self.chunks[index].blocks;
            if block.is_null() {
                return true;
            }
            // SAFETY: the block is ours.
            let Held { next, class } = unsafe { block.read() };
            self.chunks[index].blocks = next;
            self.put_back(memory, block.cast(), class);
        }
        false
    }

    fn put_back(&mut self, memory: &Memory, block: *mut Free, class: usize) {
        let batch = &mut self.back[class];
        // SAFETY: the block is ours, and becomes the first of the batch.
        unsafe { (*block).next = batch.first };
        batch.first = block;
        batch.bytes += size_of_class(class);
        if batch.bytes >= BATCH {
            // SAFETY: the batch is ours.
            unsafe { memory.put_batch(class, batch.first) };
            *batch = NOTHING;
        }
    }

    fn put_all_back(&mut self, memory: &Memory) {
        for (class, batch) in self.back.iter_mut().enumerate() {
            if !batch.first.is_null() {
                // SAFETY: the batch is ours.
                unsafe { memory.put_batch(class, batch.first) };
            }
            *batch = NOTHING;
        }
    }
}

impl Swept {
    fn contains(&self, block: usize) -> bool {
        block.wrapping_sub(self.chunk as usize) < self.bytes
    }

    fn is_free(&self) -> bool {
        self.free + LEAST > self.bytes - size_of::<Chunk>()
    }
}
