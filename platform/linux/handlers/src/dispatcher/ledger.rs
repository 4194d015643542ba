//! The ledger that a dispatcher's program shares with its process: the owner of each flow, the statistics of its
//! messages, and the owners' shares. It is the value of a map, an array of numbers for both.

use std::io::Result;
use std::ops::{Add, AddAssign};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use drystone_extension::bytecode::Definition;
use drystone_extension::handler::{Share, tables::kind};

use crate::bpf::Map;
use crate::mapping::Words;

/// Numbers of flows are from 1 to below this power of two, and so are those of owners.
pub(super) const FLOWS: usize = 1 << 12;
pub(super) const OWNERS: usize = 1 << 10;

/// The binary logarithm of the bytes of an entry, of flows and owners alike.
pub(super) const SHIFT: u32 = 5;
const WORDS: usize = (1 << SHIFT) / 8;

/// The offset of the first owner, behind the flows.
pub(super) const OWNERS_AT: usize = FLOWS << SHIFT;

/// Offsets in the entry of a flow: its owner's number, and [`Counts`].
pub(super) mod flow {
    pub const OWNER: usize = 0;
    pub const RUNS: usize = 8;
    pub const LAZILY: usize = 16;
    pub const MISSED: usize = 24;
}

/// Offsets in the entry of an owner: its [`super::Share`], and how much it has used, with the window's number in the
/// upper half and the runs in the lower half, so that all processors change both at once.
pub(super) mod owner {
    pub const RUNS: usize = 0;
    pub const WINDOW: usize = 8;
    pub const USED: usize = 16;
}

/// Statistics of a flow, or of all flows of an owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Runs of the handler.
    pub runs: u64,
    /// Messages that were passed on, because the owner's share was used up.
    pub lazily: u64,
    /// Messages that were passed on, because the kernel wouldn't run the handler.
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

/// The process's view of a ledger.
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

    /// The ledger in a map, which may be of a dispatcher that another process made.
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

    /// Gives a free flow to an owner.
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

    /// Sets the share of an owner.
    pub fn share(&self, owner: usize, Share { runs, window }: Share) {
        // Of what is counted in half a number some must be left for those who count at the same time.
        let most = u64::from(u32::MAX / 2);
        self.of_owner(owner, owner::RUNS).store(runs.min(most), Relaxed);
        // A window without an end would be what the kernel makes of 0.
        self.of_owner(owner, owner::WINDOW).store(window.max(1), Relaxed);
    }

    /// Adds an owner, who has used nothing.
    pub fn admit(&self, owner: usize, share: Share) {
        self.of_owner(owner, owner::USED).store(0, Relaxed);
        self.share(owner, share);
    }
}
