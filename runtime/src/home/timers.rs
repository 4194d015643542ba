//! Processes that sleep.
//!
//! # Why this is sound
//! The queues hold live processes only; see the process module.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::collections::BTreeMap;

use crate::layout::{Process, WOKEN, Worker};
use crate::queue::{Queue, ready};

/// In nanoseconds.
pub const MILLISECOND: u64 = 1_000_000;

/// Processes that sleep, by their time: those of one moment in the order in which they went to sleep.
pub struct Timers {
    queues: BTreeMap<i64, Queue>,
}

impl Timers {
    /// Nobody sleeps.
    pub const fn new() -> Timers {
        Timers { queues: BTreeMap::new() }
    }

    /// Whether nobody sleeps.
    pub fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// When the first wakes.
    pub fn first(&self) -> Option<i64> {
        self.queues.first_key_value().map(|(&time, _)| time)
    }

    /// Puts a process to sleep.
    pub unsafe fn add(&mut self, time: i64, p: *mut Process) {
        self.queues.entry(time).or_insert(Queue::EMPTY).push(p);
    }

    /// Makes all ready whose time has come.
    pub unsafe fn wake(&mut self, w: *mut Worker, now: i64) {
        while let Some(entry) = self.queues.first_entry() {
            if *entry.key() > now {
                return;
            }
            let mut queue = entry.remove();
            loop {
                let p = queue.pop();
                if p.is_null() {
                    break;
                }
                ready(w, p);
                (*p).status = WOKEN;
            }
        }
    }

    /// Forgets those for whom `keep` doesn't hold.
    pub unsafe fn retain(&mut self, mut keep: impl FnMut(*mut Process) -> bool) {
        self.queues.retain(|_, queue| {
            queue.retain(&mut keep);
            !queue.is_empty()
        });
    }
}

impl Default for Timers {
    fn default() -> Timers {
        Timers::new()
    }
}
