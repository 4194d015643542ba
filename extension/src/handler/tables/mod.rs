//! The tables of handlers in Drystone's engines: they behave like Linux's maps.

mod array;
mod change;
mod hash;
mod ring;
mod values;

use alloc::{format, string::String, vec::Vec};

pub use array::Array;
pub use change::{Put, Trouble};
pub use hash::Hash;
pub use ring::Ring;

use crate::bytecode::Definition;

/// Kinds of maps, by Linux's numbers.
pub mod kind {
    #![allow(missing_docs)]
    pub const HASH: u32 = 1;
    pub const ARRAY: u32 = 2;
    pub const PERCPU_HASH: u32 = 5;
    pub const PERCPU_ARRAY: u32 = 6;
    pub const LRU_HASH: u32 = 9;
    pub const LRU_PERCPU_HASH: u32 = 10;
    pub const RINGBUF: u32 = 27;
    pub const ARENA: u32 = 33;
}

/// Bytes that all values of a table may have together.
const LARGEST: u64 = 1 << 32;

/// One table.
#[derive(Debug)]
pub enum Table {
    /// Values by their numbers.
    Array(Array),
    /// Values by keys.
    Hash(Hash),
    /// Messages of the handler to its application.
    Ring(Ring),
    /// The region, whose memory is the engine's.
    Region,
}

impl Table {
    /// Makes a table, empty or full of zeros. `seed` should be unpredictable.
    ///
    /// # Errors
    /// The kind is unknown, or the table would be too large.
    pub fn new(name: &str, definition: &Definition, seed: u64) -> Result<Table, String> {
        let Definition { kind, key, value, entries, .. } = *definition;
        let bytes = u64::from(entries) * (u64::from(value) + u64::from(key));
        if kind != kind::ARENA && (entries == 0 || bytes > LARGEST) {
            return Err(format!(
                "map `{name}` with {entries} entries: it needs at least one, and {LARGEST} bytes at most"
            ));
        }
        let has_key =
            |bytes| if key == bytes { Ok(()) } else { Err(format!("map `{name}` has keys of {key} bytes")) };
        Ok(match kind {
            kind::ARRAY | kind::PERCPU_ARRAY => {
                has_key(4)?;
                Table::Array(Array::new(value as usize, entries as usize))
            }
            kind::HASH | kind::PERCPU_HASH if key > 0 => Table::Hash(Hash::new(definition, false, seed)),
            kind::LRU_HASH | kind::LRU_PERCPU_HASH if key > 0 => {
                Table::Hash(Hash::new(definition, true, seed))
            }
            kind::RINGBUF => Table::Ring(Ring::new(entries as usize)),
            kind::ARENA => Table::Region,
            _ => {
                return Err(format!(
                    "map `{name}` is of Linux's kind {kind}, which is only there on Linux: take an ARRAY, a \
                     HASH, an LRU_HASH, a RINGBUF or an ARENA"
                ));
            }
        })
    }

    /// Bytes of a key; none where there are none.
    pub(in crate::handler) fn key_bytes(&self) -> Option<usize> {
        match self {
            Table::Array(_) => Some(4),
            Table::Hash(hash) => Some(hash.key_bytes()),
            Table::Ring(_) | Table::Region => None,
        }
    }

    /// Bytes of a value; 0 where there are none.
    pub(in crate::handler) fn value_bytes(&self) -> usize {
        match self {
            Table::Array(array) => array.value_bytes(),
            Table::Hash(hash) => hash.value_bytes(),
            Table::Ring(_) | Table::Region => 0,
        }
    }

    /// The value under a key.
    pub fn get(&mut self, key: &[u8]) -> Option<&mut [u8]> {
        match self {
            Table::Array(array) => array.get(number(key)?),
            Table::Hash(hash) => hash.get(key),
            Table::Ring(_) | Table::Region => None,
        }
    }

    /// Puts a value under a key.
    pub fn put(&mut self, key: &[u8], value: &[u8], how: Put) -> Result<(), Trouble> {
        match self {
            Table::Array(_) if how == Put::New => Err(Trouble::Exists),
            Table::Array(array) => {
                let place = number(key).and_then(|number| array.get(number)).ok_or(Trouble::Full)?;
                place.copy_from_slice(value);
                Ok(())
            }
            Table::Hash(hash) => hash.put(key, value, how),
            Table::Ring(_) | Table::Region => Err(Trouble::Invalid),
        }
    }

    /// Takes a key out.
    pub fn remove(&mut self, key: &[u8]) -> Result<(), Trouble> {
        match self {
            Table::Hash(hash) => hash.remove(key),
            _ => Err(Trouble::Invalid),
        }
    }

    /// All keys.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        match self {
            Table::Array(array) => {
                (0..array.entries() as u32).map(|number| number.to_ne_bytes().to_vec()).collect()
            }
            Table::Hash(hash) => hash.keys().map(<[u8]>::to_vec).collect(),
            Table::Ring(_) | Table::Region => Vec::new(),
        }
    }
}

fn number(key: &[u8]) -> Option<usize> {
    Some(u32::from_ne_bytes(key.try_into().ok()?) as usize)
}
