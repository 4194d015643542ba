//! Hash tables. All memory is allocated in the beginning, so that a value stays where it is as long as the table lives.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use super::change::{Put, Trouble};
use super::values::Values;
use crate::bytecode::Definition;

/// A hash table of fixed capacity; perhaps one that evicts old keys when it is full (LRU).
#[derive(Debug)]
pub struct Hash {
    /// Indices of keys and values, by the hash of the key.
    index: HashTable<u32>,
    keys: Box<[u8]>,
    key_bytes: usize,
    values: Values,
    free: Vec<u32>,
    /// Of an LRU table: which values were used since the clock hand passed them.
    used: Option<Box<[bool]>>,
    /// The clock hand: where the search for a value to evict continues.
    hand: usize,
    hasher: FixedState,
}

impl Hash {
    pub(super) fn new(definition: &Definition, gives_way: bool, seed: u64) -> Hash {
        let (entries, key_bytes) = (definition.entries as usize, definition.key as usize);
        Hash {
            index: HashTable::with_capacity(entries),
            keys: vec![0; entries * key_bytes].into(),
            key_bytes,
            values: Values::new(definition.value as usize, entries),
            free: (0..definition.entries).rev().collect(),
            used: gives_way.then(|| vec![false; entries].into()),
            hand: 0,
            hasher: FixedState::with_seed(seed),
        }
    }

    pub(super) fn value_bytes(&self) -> usize {
        self.values.bytes
    }

    pub(super) fn key_bytes(&self) -> usize {
        self.key_bytes
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &[u8]> {
        self.index.iter().map(|place| self.key(*place))
    }

    fn key(&self, place: u32) -> &[u8] {
        &self.keys[place as usize * self.key_bytes..][..self.key_bytes]
    }

    fn hash(&self, key: &[u8]) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(key);
        hasher.finish()
    }

    fn find(&self, key: &[u8]) -> Option<u32> {
        self.index.find(self.hash(key), |place| self.key(*place) == key).copied()
    }

    pub(super) fn get(&mut self, key: &[u8]) -> Option<&mut [u8]> {
        let place = self.find(key)? as usize;
        if let Some(used) = &mut self.used {
            used[place] = true;
        }
        Some(self.values.get(place))
    }

    pub(super) fn put(&mut self, key: &[u8], value: &[u8], how: Put) -> Result<(), Trouble> {
        let place = match (self.find(key), how) {
            (Some(_), Put::New) => return Err(Trouble::Exists),
            (None, Put::There) => return Err(Trouble::Missing),
            (Some(place), _) => place,
            (None, _) => self.add(key)?,
        };
        self.values.get(place as usize).copy_from_slice(value);
        Ok(())
    }

    fn add(&mut self, key: &[u8]) -> Result<u32, Trouble> {
        let place = match self.free.pop() {
            Some(place) => place,
            None => self.give_way().ok_or(Trouble::Full)?,
        };
        self.keys[place as usize * self.key_bytes..][..self.key_bytes].copy_from_slice(key);
        let Hash { index, keys, key_bytes, hasher, .. } = self;
        let hash = |place: &u32| {
            let mut hasher = hasher.build_hasher();
            hasher.write(&keys[*place as usize * *key_bytes..][..*key_bytes]);
            hasher.finish()
        };
        index.insert_unique(hash(&place), place, hash);
        Ok(place)
    }

    /// Evicts a value that wasn't used lately. Returns its place.
    fn give_way(&mut self) -> Option<u32> {
        let used = self.used.as_mut()?;
        while core::mem::take(&mut used[self.hand]) {
            self.hand = (self.hand + 1) % used.len();
        }
        let place = self.hand as u32;
        self.hand = (self.hand + 1) % used.len();
        let key = self.key(place).to_vec();
        self.remove(&key).ok()?;
        self.free.pop()
    }

    pub(super) fn remove(&mut self, key: &[u8]) -> Result<(), Trouble> {
        let hash = self.hash(key);
        let Hash { index, keys, key_bytes, free, .. } = self;
        let is_it = |place: &u32| &keys[*place as usize * *key_bytes..][..*key_bytes] == key;
        let entry = index.find_entry(hash, is_it).map_err(|_| Trouble::Missing)?;
        free.push(entry.remove().0);
        Ok(())
    }
}
