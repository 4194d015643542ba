//! What the home knows of the teams that it has lent, and what it has learnt about lending.
//!
//! A component that is lent is marked in [`Instance::holder`], and so is each communication between it and the outside
//! ([`APART`](crate::layout::APART)): see the `visiting` module.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::team::{Answer, Order};
use crate::layout::{Communication, Instance, Process};
use crate::queue::Queue;

/// See the head of this file.
#[derive(Default)]
pub struct Lending {
    /// The teams, by the components that hold them.
    pub lent: BTreeMap<*mut Instance, Lent>,
    /// The teams' communications with the outside, and with which component each was lent.
    pub crossings: BTreeMap<*mut Communication, *mut Instance>,
    /// Answers of teams that have come home, which are to be sent.
    pub answers: VecDeque<Answer>,
    /// Processes of teams that have come home, which are to end.
    pub finished: VecDeque<(*mut Process, u32)>,
    /// What is known of components that were lent.
    pub known: BTreeMap<*mut Instance, Known>,
    /// The same of all lately.
    pub lately: Known,
    /// How often nothing was found to lend, since something was.
    pub vain: u32,
    /// How many components may go at once: more where it pays, fewer where it doesn't.
    pub trust: Trust,
    /// No component is lent before the home has this many nanoseconds behind it, because lending takes time too.
    pub rest: u64,
    /// Nanoseconds that it took last.
    pub cost: u64,
    /// How many teams ever went.
    pub departures: u64,
}

/// After so many looks in vain there is no hurry any more.
const FEW_LOOKS: u32 = 8;

impl Lending {
    /// Whether there may be something to lend that pays.
    pub fn is_promising(&self) -> bool {
        self.vain < FEW_LOOKS && self.lately.failures == 0
    }
}

/// One team that is lent.
pub struct Lent {
    /// Its communications with the outside.
    pub crossings: Vec<*mut Communication>,
    /// The components outside to which it has connections.
    pub around: Vec<*mut Instance>,
    /// Processes at home that wait for it.
    pub visitors: Queue,
    /// Services at home, of clients in the team, that have run to their end: they end when it is back.
    pub finished: Vec<(*mut Process, u32)>,
    /// What the home asks of it.
    pub order: Arc<Order>,
}

/// How many components may be lent at once.
#[derive(Clone, Copy)]
pub struct Trust(usize);

impl Default for Trust {
    fn default() -> Trust {
        Trust(4)
    }
}

impl Trust {
    const MOST: usize = 64;

    /// How many.
    pub fn components(self) -> usize {
        self.0
    }

    /// Lending one has paid, or not.
    pub fn learn(&mut self, has_paid: bool) {
        self.0 = if has_paid { 2 * self.0 } else { self.0 / 2 }.clamp(1, Trust::MOST);
    }
}

/// What was learnt about lending.
#[derive(Clone, Copy, Default)]
pub struct Known {
    /// How often it has come home at once, since it last paid: each time doubles the pause.
    pub failures: u32,
    /// The tick of the home from which on it may go.
    pub from: u64,
}

/// A team that has run so long before it came home has paid.
const GAIN_NANOSECONDS: u64 = 5_000_000;
/// A team that comes home sooner than that has cost more than it gained.
const LOSS_NANOSECONDS: u64 = 1_000_000;
/// A component that never pays is still tried once in 2 to the power of this ticks.
const MOST_PAUSE: u32 = 12;
/// The same for all components, if none pays.
const MOST_LATELY: u32 = 8;
/// Components about which something is known, at most.
const MOST_KNOWN: usize = 4096;

impl Lending {
    /// Learns from how long a team was away that has come home at this tick.
    pub fn learn(&mut self, root: *mut Instance, nanoseconds: u64, tick: u64) {
        if nanoseconds >= GAIN_NANOSECONDS {
            self.known.remove(&root);
            self.lately = Known::default();
            self.trust.learn(true);
        } else if nanoseconds < LOSS_NANOSECONDS {
            if self.known.len() >= MOST_KNOWN {
                self.known.clear();
            }
            self.known.entry(root).or_default().fail(tick, MOST_PAUSE);
            self.lately.fail(tick, MOST_LATELY);
            self.trust.learn(false);
        }
    }
}

impl Known {
    /// It has cost more than it gained.
    fn fail(&mut self, tick: u64, most: u32) {
        self.failures = (self.failures + 1).min(most);
        self.from = tick + (1 << self.failures);
    }
}
