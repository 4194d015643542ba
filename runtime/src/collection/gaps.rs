//! The keys that are missing within the range of a dense part, so that a removal in the middle of very many elements
//! needs to move none. A sparse bitmap, because missing keys often lie side by side.

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;

/// Missing keys.
pub struct Gaps {
    /// A bit for each of 64 keys that differ in their last six bits, under the other bits. Each word has at least one
    /// bit set.
    missing: BTreeMap<i64, u64>,
    count: usize,
}

const WORD: u32 = 6;

impl Gaps {
    /// None is missing.
    pub const fn new() -> Gaps {
        Gaps { missing: BTreeMap::new(), count: 0 }
    }

    /// How many are missing.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether a key is missing.
    pub fn has(&self, key: i64) -> bool {
        self.missing.get(&(key >> WORD)).is_some_and(|word| word & bit(key) != 0)
    }

    /// A key that was there is missing.
    pub fn add(&mut self, key: i64) {
        *self.missing.entry(key >> WORD).or_insert(0) |= bit(key);
        self.count += 1;
    }

    /// A key is no gap any more; whether it was.
    pub fn remove(&mut self, key: i64) -> bool {
        let Entry::Occupied(mut word) = self.missing.entry(key >> WORD) else { return false };
        if word.get() & bit(key) == 0 {
            return false;
        }
        *word.get_mut() &= !bit(key);
        if *word.get() == 0 {
            word.remove();
        }
        self.count -= 1;
        true
    }

    /// Keys from this one on are no gaps any more.
    pub fn forget_from(&mut self, key: i64) {
        let beyond = self.missing.split_off(&(key >> WORD));
        let word = beyond.get(&(key >> WORD)).map_or(0, |word| word & (bit(key) - 1));
        let gone: usize = beyond.values().map(|word| word.count_ones() as usize).sum();
        self.count -= gone - word.count_ones() as usize;
        if word != 0 {
            self.missing.insert(key >> WORD, word);
        }
    }

    /// Forgets the run of missing keys that begins with this one, upwards or downwards; how many those were.
    pub fn trim(&mut self, mut key: i64, up: bool) -> u64 {
        let mut trimmed = 0;
        loop {
            let run = self.run_in_word(key, up);
            if run == 0 {
                return trimmed;
            }
            trimmed += u64::from(run);
            let (low, next) = match up {
                true => (key, key.wrapping_add(i64::from(run))),
                false => (key - i64::from(run) + 1, key.wrapping_sub(i64::from(run))),
            };
            let bits = u64::MAX >> (64 - run) << (low & 63);
            if let Entry::Occupied(mut word) = self.missing.entry(key >> WORD) {
                *word.get_mut() &= !bits;
                if *word.get() == 0 {
                    word.remove();
                }
            }
            self.count -= run as usize;
            key = next;
        }
    }

    /// The first key from this one on that is not missing.
    pub fn present(&self, mut key: i64) -> i64 {
        loop {
            let run = self.run_in_word(key, true);
            if run == 0 {
                return key;
            }
            key = key.wrapping_add(i64::from(run));
        }
    }

    /// The length of the run of missing keys that begins with this one, within its word.
    fn run_in_word(&self, key: i64, up: bool) -> u32 {
        let Some(word) = self.missing.get(&(key >> WORD)) else { return 0 };
        let place = (key & 63) as u32;
        if up { (word >> place).trailing_ones() } else { (word << (63 - place)).leading_ones() }
    }

    /// The first missing key from this one on.
    pub fn first_from(&self, key: i64) -> Option<i64> {
        let above = |(&number, &word): (&i64, &u64)| {
            let word = if number == key >> WORD { word & !(bit(key) - 1) } else { word };
            (word != 0).then(|| (number << WORD) + i64::from(word.trailing_zeros()))
        };
        self.missing.range(key >> WORD..).find_map(above)
    }

    /// The last missing key up to this one.
    pub fn last_to(&self, key: i64) -> Option<i64> {
        let below = |(&number, &word): (&i64, &u64)| {
            let word = if number == key >> WORD { word & (bit(key) | (bit(key) - 1)) } else { word };
            (word != 0).then(|| (number << WORD) + 63 - i64::from(word.leading_zeros()))
        };
        self.missing.range(..=key >> WORD).rev().find_map(below)
    }
}

fn bit(key: i64) -> u64 {
    1 << (key & 63)
}
