//! Hash tables for passes, with a fast hash function. Keys are small and come from the user's own program, so that an
//! adversary could only slow down himself.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table with a fast hash function.
pub(crate) type Table<K, V> = HashMap<K, V, BuildHasherDefault<Mixer>>;

/// The multiplier of the state.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// A hash function that is fast and good enough for tables.
#[derive(Default)]
pub(crate) struct Mixer(u64);

impl From<u64> for Mixer {
    fn from(state: u64) -> Mixer {
        Mixer(state)
    }
}

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(FACTOR);
    }

    fn write_u128(&mut self, value: u128) {
        self.write_u64(value as u64);
        self.write_u64((value >> 64) as u64);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}
