//! Where the blocks of components and processes are cut from a chunk: those of one family together.
//!
//! A family is what one component or process holds. It may be lent to another worker, and then no line of the cache
//! should hold blocks of this family and of another one: two processors that write to one line slow each other down by
//! much. Families that grow at the same time would have their blocks by turns. So a family that grows gets a *run* of
//! its own, from which its blocks are cut. Only the part of the heap that cuts new blocks knows this; a block that is
//! used again may go to another family.

use core::mem::replace;
use core::ptr::null_mut;

/// Runs at a time.
const RUNS: usize = 64;
/// Bytes of a run: lines at its ends are shared, so it has many.
pub(super) const RUN: usize = 2048;
/// A family gets a run when it has had so many blocks lately.
const GROWS: u32 = 16;
/// What is remembered of a family that has had many blocks.
const MOST: u32 = 64;

/// The families that grow, each at the place that its hash says.
pub(super) struct Families([Family; RUNS]);

#[derive(Clone, Copy)]
struct Family {
    number: usize,
    /// How many blocks it has had lately.
    blocks: u32,
    run: Span,
}

/// Memory from which nothing has been cut yet.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub(super) fresh: *mut u8,
    pub(super) end: *mut u8,
}

impl Span {
    const NONE: Span = Span { fresh: null_mut(), end: null_mut() };
}

/// Where a block comes from.
pub(super) enum Cut {
    /// It is this one, of its family's run.
    Block(*mut u8),
    /// It is cut from the chunk; the rest of another family's run isn't used any more.
    Chunk(Span),
    /// Its family gets a new run.
    Run,
}

impl Families {
    /// None is known.
    pub(super) const fn new() -> Families {
        Families([Family { number: 0, blocks: 0, run: Span::NONE }; RUNS])
    }

    /// Whence a block for a family comes.
    pub(super) fn cut(&mut self, number: usize, size: usize) -> Cut {
        let family = self.at(number);
        if family.number != number {
            if family.blocks > 0 {
                family.blocks -= 1;
                return Cut::Chunk(Span::NONE);
            }
            let old = replace(family, Family { number, blocks: 0, run: Span::NONE });
            return Cut::Chunk(old.run);
        }
        family.blocks = (family.blocks + 1).min(MOST);
        let Span { fresh, end } = family.run;
        if end.addr() - fresh.addr() >= size {
            family.run.fresh = fresh.wrapping_add(size);
            return Cut::Block(fresh);
        }
        if family.blocks < GROWS { Cut::Chunk(Span::NONE) } else { Cut::Run }
    }

    /// A family goes on with a new run; gives what is left of the old one.
    pub(super) fn go_on(&mut self, number: usize, run: Span) -> Span {
        replace(&mut self.at(number).run, run)
    }

    /// No family has a run any more; gives what is left of them.
    pub(super) fn end(&mut self) -> [Span; RUNS] {
        replace(self, Families::new()).0.map(|family| family.run)
    }

    fn at(&mut self, number: usize) -> &mut Family {
        let hash = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - RUNS.ilog2());
        &mut self.0[hash as usize]
    }
}
