//! The keys of a collection: one word for each index, ordered from the first index to the last. INTEGER orders as
//! signed, CHARACTER and BOOLEAN as the small numbers that they are, TEXT by its bytes.
//!
//! # Why this is sound
//! A key is the address of one word for each kind; a word of kind Text is a live text or null.
#![allow(unsafe_op_in_unsafe_fn)]

use core::cmp::Ordering;

use drystone_component::Kind;

use crate::heap::Heap;
use crate::layout::TextHead;
use crate::long::Caller;
use crate::text;

/// The kinds of a collection's indices.
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    kinds: &'a [Kind],
}

/// Keys with longer texts are oversized. When a hash table is made anew it hashes up to 65 536 keys in one stretch.
pub const LONGEST_HASHED: usize = 1 << 10;

/// The address of a key's words.
pub type Key = *const u64;

impl<'a> Keys<'a> {
    /// Indices of these kinds.
    pub fn new(kinds: &'a [Kind]) -> Keys<'a> {
        Keys { kinds }
    }

    /// Words in a key.
    #[inline]
    pub fn width(&self) -> usize {
        self.kinds.len()
    }

    /// Whether a key is one number.
    #[inline]
    pub fn is_number(&self) -> bool {
        matches!(self.kinds, [kind] if *kind != Kind::Text)
    }

    /// Whether a text of a key is longer than [`LONGEST_HASHED`]: see [`super::oversized`].
    #[inline]
    pub unsafe fn is_oversized(&self, key: Key) -> bool {
        match *self.kinds {
            [kind] => is_long(kind, *key),
            _ => self.kinds.iter().enumerate().any(|(i, &kind)| is_long(kind, *key.add(i))),
        }
    }

    /// The order of two keys.
    pub unsafe fn compare(&self, a: Key, b: Key) -> Ordering {
        self.compare_in_parts(Caller::HASTY, a, b)
    }

    /// The same; others may run between parts of long texts.
    #[inline]
    pub unsafe fn compare_in_parts(&self, by: Caller, a: Key, b: Key) -> Ordering {
        for (i, &kind) in self.kinds.iter().enumerate() {
            let (a, b) = (*a.add(i), *b.add(i));
            let order = match kind {
                Kind::Text => text::compare(by, a as *const TextHead, b as *const TextHead),
                _ => (a as i64).cmp(&(b as i64)),
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }

    /// Whether two keys are the same.
    #[inline]
    pub unsafe fn equal(&self, a: Key, b: Key) -> bool {
        self.equal_in_parts(Caller::HASTY, a, b)
    }

    /// The same; others may run between parts of long texts.
    #[inline]
    pub unsafe fn equal_in_parts(&self, by: Caller, a: Key, b: Key) -> bool {
        match *self.kinds {
            [kind] => equal_words(by, kind, *a, *b),
            _ => self.kinds.iter().enumerate().all(|(i, &kind)| equal_words(by, kind, *a.add(i), *b.add(i))),
        }
    }

    /// Whether two keys are the same words: then they are equal, but not the other way round.
    #[inline]
    pub unsafe fn is_same(&self, a: Key, b: Key) -> bool {
        (0..self.width()).all(|i| *a.add(i) == *b.add(i))
    }

    /// The entry with the smaller key. (None of the keys is oversized, or one is.)
    #[inline]
    pub unsafe fn first<E>(&self, one: Option<(Key, E)>, other: Option<(Key, E)>) -> Option<(Key, E)> {
        match (one, other) {
            (Some(one), Some(other)) if self.compare(other.0, one.0).is_lt() => Some(other),
            (one, other) => one.or(other),
        }
    }

    /// A number that looks random, the same for equal keys. No oversized key is in a hash table, so only the beginning
    /// of its text counts.
    #[inline]
    pub unsafe fn hash(&self, key: Key, seed: u64) -> u64 {
        match *self.kinds {
            [kind] => hash_word(kind, *key, seed),
            _ => {
                let words = self.kinds.iter().enumerate();
                words.fold(seed, |hash, (i, &kind)| hash_word(kind, *key.add(i), hash))
            }
        }
    }

    /// One more holder for the texts of a key.
    #[inline]
    pub unsafe fn hold(&self, heap: &Heap, key: Key) {
        for (i, &kind) in self.kinds.iter().enumerate() {
            if kind == Kind::Text {
                text::copy(heap, *key.add(i) as *mut TextHead);
            }
        }
    }

    /// One holder less for the texts of a key.
    #[inline]
    pub unsafe fn drop(&self, heap: &mut Heap, key: Key) {
        for (i, &kind) in self.kinds.iter().enumerate() {
            if kind == Kind::Text {
                text::drop(heap, *key.add(i) as *mut TextHead);
            }
        }
    }
}

#[inline]
unsafe fn is_long(kind: Kind, word: u64) -> bool {
    kind == Kind::Text && text::is_longer(word as *const TextHead, LONGEST_HASHED)
}

#[inline]
unsafe fn equal_words(by: Caller, kind: Kind, a: u64, b: u64) -> bool {
    a == b || kind == Kind::Text && text::equal(by, a as *const TextHead, b as *const TextHead)
}

#[inline]
unsafe fn hash_word(kind: Kind, word: u64, seed: u64) -> u64 {
    match kind {
        Kind::Text => hash_bytes(text::bytes(word as *const TextHead), seed),
        _ => mix(seed ^ word),
    }
}

/// Both halves of a product: every bit of the result depends on every bit of the word.
#[inline]
fn mix(word: u64) -> u64 {
    let product = u128::from(word) * 0x9E37_79B9_7F4A_7C15;
    (product >> 64) as u64 ^ product as u64
}

/// Apart, so that hashing a number is short enough to be inlined.
#[inline(never)]
fn hash_bytes(bytes: &[u8], seed: u64) -> u64 {
    let start = mix(seed ^ bytes.len() as u64);
    let bytes = &bytes[..bytes.len().min(LONGEST_HASHED)];
    if let Some(last) = bytes.last_chunk::<8>() {
        // All words that end before the last byte; the last one may begin among them.
        let words = bytes[..bytes.len() - 1].as_chunks::<8>().0;
        let hash = words.iter().fold(start, |hash, word| mix(hash ^ u64::from_le_bytes(*word)));
        return mix(hash ^ u64::from_le_bytes(*last));
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let ends = u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << 32;
        return mix(start ^ ends);
    }
    let few = match *bytes {
        [] => [0; 3],
        [a] => [a, 0, 0],
        [a, b] => [a, b, 0],
        [a, b, c, ..] => [a, b, c],
    };
    mix(start ^ u64::from(few[0]) ^ u64::from(few[1]) << 8 ^ u64::from(few[2]) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_and_the_length_change_the_hash() {
        let mut seen = std::collections::HashSet::new();
        let mut count = 0;
        for length in 0..40 {
            let mut bytes = alloc::vec![0; length];
            let mut add = |bytes: &[u8]| {
                count += 1;
                seen.insert(hash_bytes(bytes, 0x243F_6A88_85A3_08D3));
            };
            add(&bytes);
            for place in 0..length {
                for value in 1..=255 {
                    bytes[place] = value;
                    add(&bytes);
                }
                bytes[place] = 0;
            }
        }
        assert_eq!(seen.len(), count);
    }
}
