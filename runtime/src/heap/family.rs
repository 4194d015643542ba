//! Where the blocks of components and processes are cut from a chunk: those of one family together.
//!
//! A family is what one component or process holds. It may be lent to another worker, and then no line of the cache
//! should hold blocks of this family and of another one: two processors that write to one line slow each other down by
//! much. Families that grow at the same time would have their blocks by turns. So a family that grows gets a *run* of
//! its own, from which its blocks are cut. Only the part of the heap that cuts new blocks knows this; a block that is
//! used again may go to another family.

use core::ptr::null_mut;

use super::Heap;

/// Runs at a time.
const RUNS: usize = 64;
/// Bytes of a run: lines at its ends are shared, so it has many.
const RUN: usize = 2048;
/// A family gets a run when it has had so many blocks lately.
const GROWS: u32 = 4;
/// What is remembered of a family that has had many blocks.
const MOST: u32 = 64;

/// The families that grow, by their hashes.
pub(super) struct Families([Run; RUNS]);

#[derive(Clone, Copy)]
struct Run {
    family: usize,
    /// How many blocks it has had lately.
    blocks: u32,
    fresh: *mut u8,
    end: *mut u8,
}

impl Families {
    /// None is known.
    pub(super) const fn new() -> Families {
        Families([Run { family: 0, blocks: 0, fresh: null_mut(), end: null_mut() }; RUNS])
    }
}

impl Heap {
    /// Cuts a block for a family; 0: for none.
    pub(super) fn carve_for(&mut self, size: usize, family: usize) -> *mut u8 {
        if family == 0 || size > RUN / 4 || self.families.is_none() {
            return self.carve(size);
        }
        let Some(families) = &mut self.families else { return null_mut() };
        let run = &mut families.0[family.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (usize::BITS - RUNS.ilog2())];
        if run.family != family {
            if run.blocks > 0 {
                run.blocks -= 1;
                return self.carve(size);
            }
            let old = core::mem::replace(run, Run { family, blocks: 0, fresh: null_mut(), end: null_mut() });
            self.free_rest(old);
            return self.carve(size);
        }
        run.blocks = (run.blocks + 1).min(MOST);
        let left = run.end.addr() - run.fresh.addr();
        if left >= size {
            let block = run.fresh;
            run.fresh = run.fresh.wrapping_add(size);
            return block;
        }
        if run.blocks < GROWS {
            return self.carve(size);
        }
        let old = *run;
        let fresh = self.carve(RUN);
        if fresh.is_null() {
            return fresh;
        }
        self.free_rest(old);
        let (fresh, end) = (fresh.wrapping_add(size), fresh.wrapping_add(RUN));
        if let Some(families) = &mut self.families
            && let Some(run) = families.0.iter_mut().find(|run| run.family == family)
        {
            (run.fresh, run.end) = (fresh, end);
        }
        fresh.wrapping_sub(size)
    }

    /// What is left of a run is free.
    fn free_rest(&mut self, run: Run) {
        // SAFETY: nothing has been cut from there yet, and the run is gone.
        unsafe { self.free_fresh(run.fresh, run.end) };
    }

    /// No family has a run any more.
    pub(super) fn end_runs(&mut self) {
        if let Some(families) = self.families.take() {
            for run in families.0 {
                self.free_rest(run);
            }
            self.families = Some(families);
            if let Some(families) = &mut self.families {
                **families = Families::new();
            }
        }
    }
}
