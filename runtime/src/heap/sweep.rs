//! A sweep finds the chunks of which all blocks are free, and gives them back to where they came from.
//!
//! It takes the free blocks out of the pool and sorts them by their chunks. Then chunks that are free as a whole go
//! back, and the blocks of all other chunks return to the pool. It does so in small steps, while the program runs. No
//! worker can get a block that a sweep holds, so it gathers no more as soon as a new chunk is wanted.
//!
//! # Why this is sound
//! A sweep holds blocks that nobody else knows, each in one list. At the end of a chunk less is lost than the smallest
//! block. So if the blocks that it holds and this are all of a chunk, no block of it is in use, in another list, or not
//! carved yet.

use alloc::vec::Vec;
use core::ptr::null_mut;

use super::block::{BATCH, CLASSES, LEAST, size_of_class};
use super::memory::{Chunk, Free, Held, Memory};

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

/// What a step has come to.
#[derive(PartialEq, Eq)]
pub(super) enum Step {
    /// There is more to do.
    More,
    /// There is more to do, after this worker's own free blocks have gone to the pool.
    Retire,
    /// All is done.
    Done,
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

impl Sweep {
    /// Nothing is done yet.
    pub(super) fn new(memory: &Memory) -> Sweep {
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

    /// Does a little.
    pub(super) fn step(&mut self, memory: &Memory) -> Step {
        match self.stage {
            Stage::GiveBack(index) if index == self.chunks.len() => {
                self.put_all_back(memory);
                return Step::Done;
            }
            Stage::GiveBack(index) => {
                if self.give_back(memory, index) {
                    self.stage = Stage::GiveBack(index + 1);
                }
            }
            Stage::Gather(_) | Stage::GatherAgain(_) if memory.chunk_bytes() > self.bytes => {
                self.stop_gathering();
            }
            Stage::Gather(CLASSES) => {
                self.stage = Stage::GatherAgain(0);
                return Step::Retire;
            }
            Stage::GatherAgain(CLASSES) => self.stop_gathering(),
            Stage::Gather(class) => {
                if !self.gather(memory, class) {
                    self.stage = Stage::Gather(class + 1);
                }
            }
            Stage::GatherAgain(class) => {
                if !self.gather(memory, class) {
                    self.stage = Stage::GatherAgain(class + 1);
                }
            }
        }
        Step::More
    }

    /// Does all that is left to do, without gathering more.
    pub(super) fn end(&mut self, memory: &Memory) {
        self.stop_gathering();
        while self.step(memory) != Step::Done {}
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
            // SAFETY: the sweep took the batch out of the pool.
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
        // SAFETY: the block was in the batch, and is in no other list.
        unsafe { block.write(Held { next: swept.blocks, class }) };
        swept.blocks = block;
        swept.free += size_of_class(class);
    }

    /// Frees a chunk, or puts a portion of its blocks back; `true`: that is done.
    fn give_back(&mut self, memory: &Memory, index: usize) -> bool {
        if self.chunks[index].is_free() {
            // SAFETY: the sweep holds all of its blocks.
            unsafe { memory.free_chunk(self.chunks[index].chunk) };
            return true;
        }
        for _ in 0..PORTION {
            let block = self.chunks[index].blocks;
            if block.is_null() {
                return true;
            }
            // SAFETY: the sweep holds the block.
            let Held { next, class } = unsafe { block.read() };
            self.chunks[index].blocks = next;
            self.put_back(memory, block.cast(), class);
        }
        false
    }

    fn put_back(&mut self, memory: &Memory, block: *mut Free, class: usize) {
        let batch = &mut self.back[class];
        // SAFETY: the block is free and in no other list; it becomes the first of the batch.
        unsafe { (*block).next = batch.first };
        batch.first = block;
        batch.bytes += size_of_class(class);
        if batch.bytes >= BATCH {
            // SAFETY: the batch is in no other list.
            unsafe { memory.put_batch(class, batch.first) };
            *batch = NOTHING;
        }
    }

    fn put_all_back(&mut self, memory: &Memory) {
        for (class, batch) in self.back.iter_mut().enumerate() {
            if !batch.first.is_null() {
                // SAFETY: the batch is in no other list.
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
