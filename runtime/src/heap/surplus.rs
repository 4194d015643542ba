//! When memory goes back that a program doesn't need any more. Nobody counts the free blocks of a chunk while blocks
//! come and go: when much more memory is unused than in use, one worker begins a [`Sweep`], which finds the chunks that
//! are free.

use alloc::boxed::Box;

use super::Heap;
use super::block::LARGEST_CHUNK;
use super::sweep::{Step, Sweep};

/// So much may be unused before anybody cares.
const SLACK: usize = 2 * LARGEST_CHUNK;

impl Heap {
    /// Bytes of chunks that nobody uses.
    pub fn unused(&self) -> usize {
        let small = self.live().saturating_sub(self.memory.large_bytes());
        self.memory.chunk_bytes().saturating_sub(small)
    }

    /// Whether much more is unused than used, and a sweep may find more than the last one, before which `live` bytes
    /// were in use and after which `left` bytes were unused: either more is unused by now, or much has been freed that
    /// was in use then, and kept chunks from being free.
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
        loop {
            match sweep.step(&self.memory) {
                Step::More => {}
                Step::Retire => self.retire(),
                Step::Done => return true,
            }
            if is_over() {
                self.sweep = Some(sweep);
                return false;
            }
        }
    }
}
