//! Time: processes that sleep, and random numbers.
//!
//! # Why this is sound
//! The queues hold live processes only; see the process module.
#![allow(unsafe_op_in_unsafe_fn, clippy::missing_safety_doc)]

use alloc::collections::BTreeMap;
use core::sync::atomic::Ordering::Relaxed;

use crate::layout::*;
use crate::process::*;

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

    unsafe fn add(&mut self, time: i64, p: *mut Process) {
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

/// `TIME`: the program's time, in milliseconds or virtual units.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_time(w: *mut Worker) -> i64 {
    let shared = crate::scheduler::shared(w);
    if shared.is_virtual {
        shared.virtual_time.load(Relaxed)
    } else {
        (shared.nanoseconds() / MILLISECOND) as i64
    }
}

/// In nanoseconds.
pub const MILLISECOND: u64 = 1_000_000;

/// `PASSIVATE`
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_passivate(w: *mut Worker, p: *mut Process, n: i64, _place: u32) -> Status {
    if (*p).status == WOKEN {
        (*p).status = READY;
        return Status::Done;
    }
    let shared = crate::scheduler::shared(w);
    if n <= 0 && !shared.is_virtual {
        ready(w, p);
        (*p).status = WOKEN;
        return Status::Leave;
    }
    let now = if shared.is_virtual {
        shared.virtual_time.load(Relaxed)
    } else {
        // Not less than n, so from the next full millisecond.
        shared.nanoseconds().div_ceil(MILLISECOND) as i64
    };
    (*p).status = SLEEPS;
    home(w).timers.add(now.saturating_add(n.max(0)), p);
    Status::Leave
}

/// `RANDOM(lo, hi)`, both included; 0 if there is nothing between them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_random(w: *mut Worker, p: *mut Process, lo: i64, hi: i64, place: u32) -> i64 {
    if lo > hi {
        crate::fault::ds_fail(w, p, Fault::InvalidArgument as u32, place);
        return 0;
    }
    // SplitMix64, then a multiplication in place of a division: the bias is below 2^-64 of the range.
    let own = &mut *(*w).own;
    own.random = own.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut x = own.random;
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^= x >> 31;
    let range = (hi as i128 - lo as i128 + 1) as u128;
    (lo as i128 + ((x as u128 * range) >> 64) as i128) as i64
}
