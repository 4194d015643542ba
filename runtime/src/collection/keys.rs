//! The keys of a collection: one word for each index, ordered from the first index to the last. INTEGER orders as
//! signed, CHARACTER and BOOLEAN as the small numbers that they are, TEXT by its bytes.
//!
//! Of a long text only some of the bytes are hashed. Two of them are compared outside of what searches for a key, where others
//! may run meanwhile: [`Asked`].
//!
//! # Why this is sound
//! A key is the address of one word for each kind; a word of kind Text is a live text or null. Who has [`Keys`] with
//! [`Asked`] sees to it that these outlive them.
#![allow(unsafe_op_in_unsafe_fn)]

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::marker::PhantomData;
use core::ptr::null_mut;
use core::slice;

use drystone_component::Kind;

use crate::heap::Heap;
use crate::layout::TextHead;
use crate::long::Caller;
use crate::text;

/// The kinds of a collection's indices.
#[derive(Clone, Copy)]
pub struct Keys<'a> {
    first: *const Kind,
    /// Null unless a long text is searched for; above that, how many kinds there are. So keys are passed in two registers.
    asked: *mut Asked,
    kinds: PhantomData<&'a [Kind]>,
}

/// Where the number of kinds begins in [`Keys`]: above any address.
const NUMBER: u32 = 48;

/// A text with more bytes is long: nobody waits until two of them have been compared.
pub const LONG: usize = if cfg!(miri) { 1 << 8 } else { 1 << 18 };

/// What is known of the order of long texts while a key with some of them is searched for, or all are brought in order.
pub struct Asked {
    known: Vec<(*const TextHead, *const TextHead, Ordering)>,
    /// The places of texts in their order.
    ranks: BTreeMap<*const TextHead, usize>,
    /// Two that have been asked for, and are not known; what has been found since doesn't count.
    pub wanted: Option<(*mut TextHead, *mut TextHead)>,
    /// What is not known is wanted; else it is found out at once.
    is_search: bool,
}

impl Asked {
    /// Nothing is known.
    pub const fn new() -> Asked {
        Asked { known: Vec::new(), ranks: BTreeMap::new(), wanted: None, is_search: true }
    }

    /// The order of some texts is known: they stand in it.
    pub unsafe fn in_order(by: Caller, texts: &[*mut TextHead]) -> Asked {
        let mut asked = Asked { is_search: false, ..Asked::new() };
        let mut rank = 0;
        for (index, &text) in texts.iter().enumerate() {
            rank += usize::from(index > 0 && text::compare(by, texts[index - 1], text).is_ne());
            asked.ranks.insert(text, rank);
        }
        asked
    }

    /// The order of two texts has been found out.
    pub fn tell(&mut self, a: *const TextHead, b: *const TextHead, order: Ordering) {
        self.known.push((a, b, order));
    }

    /// All is known that a search needs.
    pub fn end_search(&mut self) {
        self.is_search = false;
    }

    fn known(&self, a: *const TextHead, b: *const TextHead) -> Option<Ordering> {
        if let (Some(a), Some(b)) = (self.ranks.get(&a), self.ranks.get(&b)) {
            return Some(a.cmp(b));
        }
        self.known.iter().find_map(|&(known, other, order)| match (known, other) {
            pair if pair == (a, b) => Some(order),
            pair if pair == (b, a) => Some(order.reverse()),
            _ => None,
        })
    }

    unsafe fn order(&mut self, a: *const TextHead, b: *const TextHead) -> Ordering {
        if let Some(order) = self.known(a, b) {
            return order;
        }
        if self.is_search {
            self.wanted = Some((a.cast_mut(), b.cast_mut()));
            return Ordering::Equal;
        }
        text::compare(Caller::HASTY, a, b)
    }
}

/// The address of a key's words.
pub type Key = *const u64;

impl<'a> Keys<'a> {
    /// Indices of these kinds.
    #[inline]
    pub fn new(kinds: &'a [Kind]) -> Keys<'a> {
        let asked = null_mut::<Asked>().map_addr(|_| kinds.len() << NUMBER);
        Keys { first: kinds.as_ptr(), asked, kinds: PhantomData }
    }

    /// The same, where a long text is searched for.
    pub fn asking(self, asked: *mut Asked) -> Keys<'a> {
        let number = self.asked.addr() >> NUMBER;
        Keys { asked: asked.map_addr(|address| address | number << NUMBER), ..self }
    }

    #[inline]
    fn kinds(&self) -> &'a [Kind] {
        // SAFETY: see [`Keys::new`].
        unsafe { slice::from_raw_parts(self.first, self.asked.addr() >> NUMBER) }
    }

    /// What is known of long texts, if one is searched for.
    #[inline]
    fn asked(&self) -> Option<*mut Asked> {
        let asked = self.asked.map_addr(|address| address & ((1 << NUMBER) - 1));
        (!asked.is_null()).then_some(asked)
    }

    /// Whether some text of a key is long.
    #[inline]
    pub unsafe fn is_long(&self, key: Key) -> bool {
        match *self.kinds() {
            [Kind::Text] => text::length(*key as *const TextHead) > LONG,
            [_] => false,
            _ => self.long_texts(key).next().is_some(),
        }
    }

    /// Words in a key.
    #[inline]
    pub fn width(&self) -> usize {
        self.kinds().len()
    }

    /// Whether a key is one number.
    #[inline]
    pub fn is_number(&self) -> bool {
        matches!(self.kinds(), [kind] if *kind != Kind::Text)
    }

    /// Whether a key has texts.
    pub fn have_texts(&self) -> bool {
        self.kinds().contains(&Kind::Text)
    }

    /// The long texts of a key.
    pub unsafe fn long_texts(&self, key: Key) -> impl Iterator<Item = *mut TextHead> {
        let words = self.kinds().iter().enumerate().filter(|(_, kind)| **kind == Kind::Text);
        words.map(move |(i, _)| *key.add(i) as *mut TextHead).filter(|&text| text::length(text) > LONG)
    }

    /// The order of two keys.
    pub unsafe fn compare(&self, a: Key, b: Key) -> Ordering {
        for (i, &kind) in self.kinds().iter().enumerate() {
            let (a, b) = (*a.add(i), *b.add(i));
            let order = match kind {
                Kind::Text => self.text_order(a as *const TextHead, b as *const TextHead),
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
        match *self.kinds() {
            [kind] => self.equal_words(kind, *a, *b),
            _ => {
                self.kinds().iter().enumerate().all(|(i, &kind)| self.equal_words(kind, *a.add(i), *b.add(i)))
            }
        }
    }

    #[inline]
    unsafe fn equal_words(&self, kind: Kind, a: u64, b: u64) -> bool {
        a == b || kind == Kind::Text && self.equal_texts(a as *const TextHead, b as *const TextHead)
    }

    #[inline]
    unsafe fn equal_texts(&self, a: *const TextHead, b: *const TextHead) -> bool {
        let Some(asked) = self.asked() else { return text::equal(Caller::HASTY, a, b) };
        if let Some(order) = (*asked).known(a, b) {
            return order.is_eq();
        }
        let (x, y) = (text::bytes(a), text::bytes(b));
        x.len() == y.len() && samples(x).eq(samples(y)) && self.text_order(a, b).is_eq()
    }

    #[inline]
    unsafe fn text_order(&self, a: *const TextHead, b: *const TextHead) -> Ordering {
        match self.asked() {
            Some(asked) if a != b && text::length(a).min(text::length(b)) > LONG => (*asked).order(a, b),
            _ => text::compare(Caller::HASTY, a, b),
        }
    }

    /// Whether two keys are the same words: then they are equal, but not the other way round.
    #[inline]
    pub unsafe fn is_same(&self, a: Key, b: Key) -> bool {
        (0..self.width()).all(|i| *a.add(i) == *b.add(i))
    }

    /// A number that looks random, the same for equal keys.
    #[inline]
    pub unsafe fn hash(&self, key: Key, seed: u64) -> u64 {
        match *self.kinds() {
            [kind] => hash_word(kind, *key, seed),
            _ => {
                let words = self.kinds().iter().enumerate();
                words.fold(seed, |hash, (i, &kind)| hash_word(kind, *key.add(i), hash))
            }
        }
    }

    /// One more holder for the texts of a key.
    #[inline]
    pub unsafe fn hold(&self, heap: &Heap, key: Key) {
        for (i, &kind) in self.kinds().iter().enumerate() {
            if kind == Kind::Text {
                text::copy(heap, *key.add(i) as *mut TextHead);
            }
        }
    }

    /// One holder less for the texts of a key.
    #[inline]
    pub unsafe fn drop(&self, heap: &mut Heap, key: Key) {
        for (i, &kind) in self.kinds().iter().enumerate() {
            if kind == Kind::Text {
                text::drop(heap, *key.add(i) as *mut TextHead);
            }
        }
    }
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

/// So many bytes of a long text are hashed together, in so many places.
const SAMPLE: usize = 1 << 10;
const SAMPLES: usize = 32;
/// Of a text with more bytes only some are hashed.
const SAMPLED: usize = SAMPLES * SAMPLE;

/// Some of the bytes of a text, the first and the last among them; all of one that is not long.
fn samples(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let few = bytes.len() <= SAMPLED;
    let (size, number) = if few { (bytes.len(), 1) } else { (SAMPLE, SAMPLES) };
    let step = if few { 0 } else { (bytes.len() - SAMPLE) / (SAMPLES - 1) };
    (1..=number).map(move |index| {
        let start = if index == number { bytes.len() - size } else { (index - 1) * step };
        &bytes[start..start + size]
    })
}

/// Apart, so that hashing a number is short enough to be inlined.
#[inline(never)]
fn hash_bytes(bytes: &[u8], seed: u64) -> u64 {
    if bytes.len() > SAMPLED {
        return samples(bytes).fold(seed ^ bytes.len() as u64, |hash, sample| hash_all(sample, hash));
    }
    hash_all(bytes, seed)
}

#[inline]
fn hash_all(bytes: &[u8], seed: u64) -> u64 {
    let start = mix(seed ^ bytes.len() as u64);
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

    #[test]
    fn the_ends_of_a_long_text_and_its_length_change_the_hash() {
        let all = alloc::vec![0; 10 * SAMPLED + 7];
        let of = |place: usize, length: usize| {
            let mut bytes = all[..length].to_vec();
            bytes[place] = 1;
            hash_bytes(&bytes, 1)
        };
        let hashes =
            [of(0, all.len()), of(all.len() - 1, all.len()), of(0, all.len() - 1), of(0, SAMPLED + 1)];
        let distinct: std::collections::HashSet<u64> = hashes.into_iter().collect();
        assert_eq!(distinct.len(), hashes.len());
        assert_eq!(samples(&all).count(), SAMPLES);
    }
}
