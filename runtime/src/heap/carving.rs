//! Cuts blocks from chunks for families: see the `family` module.

use super::Heap;
use super::block::LEAST;
use super::family::{Cut, RUN, Span};

impl Heap {
    /// Cuts a block for a family; 0: for none. Null: there is no more memory.
    pub(super) fn carve_for(&mut self, size: usize, family: usize) -> *mut u8 {
        // What is large has few lines that it shares.
        if family == 0 || size > RUN / 4 {
            return self.carve(size);
        }
        match self.families.as_mut().map(|families| families.cut(family, size)) {
            None => self.carve(size),
            Some(Cut::Block(block)) => block,
            Some(Cut::Chunk(rest)) => {
                self.free_rest(rest, size);
                self.carve(size)
            }
            Some(Cut::Run) => {
                let block = self.carve(RUN);
                if block.is_null() {
                    self.end_runs();
                    return self.carve(size);
                }
                let run = Span { fresh: block.wrapping_add(size), end: block.wrapping_add(RUN) };
                let rest = self.families.as_mut().map(|families| families.go_on(family, run));
                rest.into_iter().for_each(|rest| self.free_rest(rest, size));
                block
            }
        }
    }

    /// No family has a run any more.
    pub(super) fn end_runs(&mut self) {
        let rests = self.families.as_mut().map(|families| families.end());
        rests.into_iter().flatten().for_each(|rest| self.free_rest(rest, RUN));
    }

    /// What is left of a run is free: blocks of a size that is wanted now, so that they are soon used.
    fn free_rest(&mut self, mut rest: Span, size: usize) {
        // SAFETY: nothing has been cut from there yet, and no family has it any more. A block has the size of a class.
        unsafe {
            while rest.end.addr() - rest.fresh.addr() >= size + LEAST {
                self.free(rest.fresh, size);
                self.credit -= size as isize;
                rest.fresh = rest.fresh.wrapping_add(size);
            }
            self.free_fresh(rest.fresh, rest.end);
        }
    }
}
