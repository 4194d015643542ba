//! The handler's answers, in memory that it shares with this process; `cache.c` declares the layout. Items without a
//! slot there are known to the process alone, so the handler passes on requests that could be for one of them.

use std::hint::spin_loop;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use drystone_handlers::Region;

use crate::LONGEST_DATAGRAM;

/// The most text in a datagram, behind the frame.
pub const LONGEST: usize = LONGEST_DATAGRAM - 8;
const WAYS: usize = 4;

// Of everything.
const OPEN: usize = 0;
const HITS: usize = 8;
const MISSES: usize = 16;
const NOTHING: usize = 24;
const SETS: usize = 32;
// Of a set.
const READING: usize = 0;
const WRITING: usize = 8;
const ELSEWHERE: usize = 16;
const SLOTS: usize = 24;
const SET: usize = SLOTS + WAYS * SLOT;
// Of a slot.
const HASH: usize = 0;
const EXPIRES: usize = 8;
const ASKED: usize = 16;
const LENGTHS: usize = 24;
const ANSWER: usize = 32;
const SLOT: usize = ANSWER + LONGEST;

/// Offset of the key in an answer.
const VALUE: usize = b"VALUE ".len();

/// Readers take microseconds. If one never ends, its set belongs to the process alone from then on.
const PATIENCE: Duration = Duration::from_secs(1);

/// How many sets fit into so many bytes.
pub fn sets_in(bytes: usize) -> usize {
    (bytes.saturating_sub(SETS) / SET).clamp(1, 1 << 17)
}

/// The bytes of so many sets.
pub fn bytes_of(sets: usize) -> usize {
    SETS + sets * SET
}

/// See the head of this file.
pub struct Shadow {
    region: Region,
    sets: usize,
}

impl Shadow {
    /// Lets the handler answer from this table, which is empty at first.
    pub fn new(region: Region, bytes: usize) -> Shadow {
        region.write(NOTHING, b"END\r\n");
        region.number(OPEN).store(1, Ordering::Release);
        Shadow { region, sets: sets_in(bytes) }
    }

    /// The handler's hits and misses.
    pub fn counts(&self) -> (u64, u64) {
        (self.load(HITS), self.load(MISSES))
    }

    /// Gives the handler an answer for a key that has an item `now`, valid until it `expires`; without one, the process
    /// answers. `is_new`: the key had no item.
    pub fn put(&mut self, key: &[u8], is_new: bool, answer: &[u8], expires: u64, now: u64) {
        self.writing(key, |shadow, set, hash| {
            let own = shadow.slot_of(set, hash, key);
            if own.is_none() && !is_new {
                shadow.add_elsewhere(set, -1);
            }
            if answer.is_empty() || answer.len() > LONGEST {
                own.into_iter().for_each(|slot| shadow.store(slot + HASH, 0));
                return shadow.add_elsewhere(set, 1);
            }
            let slot = own.unwrap_or_else(|| shadow.least_used(set));
            if own.is_none() && shadow.load(slot + HASH) != 0 {
                shadow.add_elsewhere(set, 1);
            }
            shadow.store(slot + HASH, hash);
            shadow.store(slot + EXPIRES, expires);
            shadow.store(slot + ASKED, now);
            shadow.store(slot + LENGTHS, key.len() as u64 | (answer.len() as u64) << 32);
            shadow.region.write(slot + ANSWER, answer);
        });
    }

    /// A key's item is gone.
    pub fn remove(&mut self, key: &[u8]) {
        self.writing(key, |shadow, set, hash| match shadow.slot_of(set, hash, key) {
            Some(slot) => shadow.store(slot + HASH, 0),
            None => shadow.add_elsewhere(set, -1),
        });
    }

    /// When the handler was last asked for a key, if it has its answer.
    pub fn asked(&self, key: &[u8]) -> Option<u64> {
        let hash = hash(key);
        self.slot_of(self.set_of(hash), hash, key).map(|slot| self.load(slot + ASKED))
    }

    /// Changes a key's set while no handler reads it.
    fn writing(&mut self, key: &[u8], change: impl FnOnce(&Shadow, usize, u64)) {
        let hash = hash(key);
        let set = self.set_of(hash);
        // Sequentially consistent with the handler's reader count and its check of this flag: one of the two sees the
        // other.
        if self.region.number(set + WRITING).swap(1, Ordering::SeqCst) == 1 {
            return;
        }
        let begin = Instant::now();
        while self.region.number(set + READING).load(Ordering::SeqCst) != 0 {
            if begin.elapsed() > PATIENCE {
                return;
            }
            spin_loop();
        }
        change(self, set, hash);
        self.region.number(set + WRITING).store(0, Ordering::SeqCst);
    }

    fn set_of(&self, hash: u64) -> usize {
        SETS + (hash >> 32) as usize % self.sets * SET
    }

    fn slots(set: usize) -> impl Iterator<Item = usize> {
        (0..WAYS).map(move |way| set + SLOTS + way * SLOT)
    }

    fn slot_of(&self, set: usize, hash: u64, key: &[u8]) -> Option<usize> {
        Self::slots(set).find(|&slot| {
            let mut there = vec![0; key.len()];
            self.load(slot + HASH) == hash && self.load(slot + LENGTHS) as u32 as usize == key.len() && {
                self.region.read(slot + ANSWER + VALUE, &mut there);
                there == key
            }
        })
    }

    /// A free slot, or else the least recently used one.
    fn least_used(&self, set: usize) -> usize {
        let use_of = |slot: &usize| (self.load(slot + HASH) != 0, self.load(slot + ASKED));
        Self::slots(set).min_by_key(use_of).unwrap_or(set + SLOTS)
    }

    fn add_elsewhere(&self, set: usize, by: i64) {
        self.store(set + ELSEWHERE, self.load(set + ELSEWHERE).wrapping_add_signed(by));
    }

    fn load(&self, at: usize) -> u64 {
        self.region.number(at).load(Ordering::Relaxed)
    }

    fn store(&self, at: usize, value: u64) {
        self.region.number(at).store(value, Ordering::Relaxed);
    }
}

/// The handler's hash function: FNV-1a, and never 0.
fn hash(key: &[u8]) -> u64 {
    let hash = key.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    hash.max(1)
}
