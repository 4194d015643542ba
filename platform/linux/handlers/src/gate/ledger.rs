//! What a gate's program and its process both have: whose each flow is, what became of its messages, and the owners'
//! shares. It is one value of a map, which both read and write as numbers.

use std::io::Result;
use std::ops::{Add, AddAssign};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use drystone_extension::bytecode::Definition;
use drystone_extension::handler::{Share, tables::kind};

use crate::bpf::Map;
use crate::mapping::Words;

/// Flows have numbers below that, from 1 on; a power of two, as those of owners, too.
pub(super) const FLOWS: usize = 1 << 12;
pub(super) const OWNERS: usize = 1 << 10;

/// Bytes of what is said of one, of flows and of owners alike, as a number of bits to shift by.
pub(super) const SHIFT: u32 = 5;
const WORDS: usize = (1 << SHIFT) / 8;

/// Where owners begin, in bytes: behind the flows.
pub(super) const OWNERS_AT: usize = FLOWS << SHIFT;

/// What is said of a flow, in bytes from its beginning: its owner's number, and [`Counts`].
pub(super) mod flow {
    pub const OWNER: usize = 0;
    pub const RUNS: usize = 8;
    pub const LAZILY: usize = 16;
    pub const MISSED: usize = 24;
}

/// What is said of an owner: its [`super::Share`], and what it has used of it: in the upper half the window's number,
/// in the lower half its runs in it, so that both change at once, whichever processors count.
pub(super) mod owner {
    pub const RUNS: usize = 0;
    pub const WINDOW: usize = 8;
    pub const USED: usize = 16;
}

/// What became of the messages of a flow, or of all flows of an owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Runs of the handler.
    pub runs: u64,
    /// Messages for which it didn't run, because its owner's share was used up: they were passed on.
    pub lazily: u64,
    /// Messages for which the kernel wouldn't run it; they were passed on, too.
    pub missed: u64,
}

impl Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts {
            runs: self.runs + other.runs,
            lazily: self.lazily + other.lazily,
            missed: self.missed + other.missed,
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        *self = *self + other;
    }
}

/// See the head of this file.
#[derive(Debug)]
pub(super) struct Ledger {
    pub map: Map,
    words: Words,
}

impl Ledger {
    pub fn new() -> Result<Ledger> {
        const MAPPABLE: u32 = 1 << 10;
        let value = (OWNERS_AT + (OWNERS << SHIFT)) as u32;
        let definition =
            Definition { kind: kind::ARRAY, key: 4, value, entries: 1, flags: MAPPABLE, extra: 0 };
        Ledger::of(Map::new("ledger", definition)?)
    }

    /// The one that a map holds, which may be another gate's of before.
    pub fn of(map: Map) -> Result<Ledger> {
        let words = Words::of(&map)?;
        Ok(Ledger { map, words })
    }

    fn of_flow(&self, number: u16, at: usize) -> &AtomicU64 {
        &self.words[usize::from(number) * WORDS + at / 8]
    }

    fn of_owner(&self, number: usize, at: usize) -> &AtomicU64 {
        &self.words[OWNERS_AT / 8 + number * WORDS + at / 8]
    }

    /// A flow that nobody has yet is an owner's.
    pub fn begin(&self, number: u16, owner: usize) {
        self.of_flow(number, flow::OWNER).store(owner as u64, Relaxed);
        for count in [flow::RUNS, flow::LAZILY, flow::MISSED] {
            self.of_flow(number, count).store(0, Relaxed);
        }
    }

    pub fn counts(&self, number: u16) -> Counts {
        let count = |at| self.of_flow(number, at).load(Relaxed);
        Counts { runs: count(flow::RUNS), lazily: count(flow::LAZILY), missed: count(flow::MISSED) }
    }

    /// Gives an owner another share.
    pub fn share(&self, owner: usize, Share { runs, window }: Share) {
        // Of what is counted in half a number some must be left for those who count at the same time.
        let most = u64::from(u32::MAX / 2);
        self.of_owner(owner, owner::RUNS).store(runs.min(most), Relaxed);
        // A window without an end would be what the kernel makes of 0.
        self.of_owner(owner, owner::WINDOW).store(window.max(1), Relaxed);
    }

    /// An owner begins, and has used nothing.
    pub fn admit(&self, owner: usize, share: Share) {
        self.of_owner(owner, owner::USED).store(0, Relaxed);
        self.share(owner, share);
    }
}
