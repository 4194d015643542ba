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
use crate::text;

/// The kinds of a collection's indices.
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    kinds: &'a [Kind],
}

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

    /// The order of two keys.
    pub unsafe fn compare(&self, a: Key, b: Key) -> Ordering {
        for (i, &kind) in self.kinds.iter().enumerate() {
            let (a, b) = (*a.add(i), *b.add(i));
            let order = match kind {
                Kind::Text => text::compare(a as *const TextHead, b as *const TextHead),
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
        self.kinds.iter().enumerate().all(|(i, &kind)| {
            let (a, b) = (*a.add(i), *b.add(i));
            a == b
                || kind == Kind::Text
                    && text::bytes(a as *const TextHead) == text::bytes(b as *const TextHead)
        })
    }

    /// Whether two keys are the same words: then they are equal, but not the other way round.
    #[inline]
    pub unsafe fn is_same(&self, a: Key, b: Key) -> bool {
        (0..self.width()).all(|i| *a.add(i) == *b.add(i))
    }

    /// A number that looks random, the same for equal keys.
    #[inline]
    pub unsafe fn hash(&self, key: Key, seed: u64) -> u64 {
        self.kinds.iter().enumerate().fold(seed, |hash, (i, &kind)| match kind {
            Kind::Text => hash_bytes(text::bytes(*key.add(i) as *const TextHead), hash),
            _ => mix(hash ^ *key.add(i)),
        })
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

/// Both halves of a product: every bit of the result depends on every bit of the word.
#[inline]
fn mix(word: u64) -> u64 {
    let product = u128::from(word) * 0x9E37_79B9_7F4A_7C15;
    (product >> 64) as u64 ^ product as u64
}

fn hash_bytes(bytes: &[u8], seed: u64) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(seed, |hash, word| mix(hash ^ u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(mix(hash ^ u64::from_le_bytes(last)) ^ bytes.len() as u64)
}
