//! The answers that the handler gives, in memory that it shares with this process: `cache.c` declares how they are laid
//! out there. An item that has no place here is known to the process alone; the handler passes on what could be for
//! such a one.

use std::hint::spin_loop;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use drystone_handlers::Region;

use crate::LONGEST_DATAGRAM;

/// What fits behind the frame of a datagram.
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

/// Where in an answer the key stands.
const VALUE: usize = b"VALUE ".len();

/// The handler reads for microseconds. Should one never end, its set is the process's alone from then on.
const PATIENCE: Duration = Duration::from_secs(1);

/// How many sets there can be in so many bytes.
pub fn sets_in(bytes: usize) -> usize {
    (bytes.saturating_sub(SETS) / SET).clamp(1, 1 << 17)
}

/// What so many sets take.
pub fn bytes_of(sets: usize) -> usize {
    SETS + sets * SET
}

/// See the head of this file.
pub struct Shadow {
    region: Region,
    sets: usize,
}

impl Shadow {
    /// From now on the handler answers from what is put here. Nothing is, in the beginning.
    pub fn new(region: Region, bytes: usize) -> Shadow {
        region.write(NOTHING, b"END\r\n");
        region.number(OPEN).store(1, Ordering::Release);
        Shadow { region, sets: sets_in(bytes) }
    }

    /// Answers that the handler has given: values, and that there is none.
    pub fn counts(&self) -> (u64, u64) {
        (self.load(HITS), self.load(MISSES))
    }

    /// A key has an item `now`, that the handler shall answer so, until it `expires`; without an answer the process
    /// answers. `is_new`: it had none.
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

    /// A key has no item any more.
    pub fn remove(&mut self, key: &[u8]) {
        self.writing(key, |shadow, set, hash| match shadow.slot_of(set, hash, key) {
            Some(slot) => shadow.store(slot + HASH, 0),
            None => shadow.add_elsewhere(set, -1),
        });
    }

    /// When the handler was last asked for a key, if it knows it.
    pub fn asked(&self, key: &[u8]) -> Option<u64> {
        let hash = hash(key);
        self.slot_of(self.set_of(hash), hash, key).map(|slot| self.load(slot + ASKED))
    }

    /// Changes a key's set while the handler isn't looking.
    fn writing(&mut self, key: &[u8], change: impl FnOnce(&Shadow, usize, u64)) {
        let hash = hash(key);
        let set = self.set_of(hash);
        // In one order with the handler's count of readers and its look at this: one of the two sees the other.
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

    /// One that nobody has, or else the one that nobody has asked for for longest.
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

/// As the handler has it: FNV-1a, and never 0.
fn hash(key: &[u8]) -> u64 {
    let hash = key.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    hash.max(1)
}
