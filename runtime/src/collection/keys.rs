//! The keys of a collection: one word for each index, ordered from the first index to the last. INTEGER orders as
//! signed, CHARACTER and BOOLEAN as the small numbers that they are, TEXT by its bytes.
//!
//! A [`Key`] is the address of such words, [`Keys`] says of what kinds they are. Neither proves that both belong to the
//! same collection: see [`Keys::new`].

use core::cmp::Ordering;
use core::marker::PhantomData;
use core::ptr::NonNull;
use core::slice;

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

/// Keys with longer texts are oversized, because a hash table that grows hashes up to 65 536 keys at once.
pub const LONGEST_HASHED: usize = 1 << 10;

/// The address of a key's words. During `'a` they stay as they are, and texts among them live.
#[derive(Clone, Copy)]
pub struct Key<'a> {
    words: NonNull<u64>,
    lasts: PhantomData<&'a u64>,
}

impl<'a> Key<'a> {
    /// The key with its words at an address.
    ///
    /// # Safety
    /// `words` points to one word for each index of a collection, those of kind Text null or live texts. During `'a`
    /// nobody changes the words or ends the texts.
    #[inline]
    pub unsafe fn new(words: *const u64) -> Key<'a> {
        // SAFETY: there are words at this address, so it isn't null.
        Key { words: unsafe { NonNull::new_unchecked(words.cast_mut()) }, lasts: PhantomData }
    }

    /// The key of a collection with one index, which is a number.
    #[inline]
    pub fn number(self) -> i64 {
        // SAFETY: every collection has an index.
        unsafe { self.word(0) as i64 }
    }

    /// Where its words are.
    #[inline]
    pub fn as_ptr(self) -> *const u64 {
        self.words.as_ptr()
    }

    /// A word.
    ///
    /// # Safety
    /// The collection has that many indices, and more.
    #[inline]
    pub unsafe fn word(self, index: usize) -> u64 {
        // SAFETY: there is a word for each index.
        unsafe { self.words.add(index).read() }
    }
}

impl<'a> Keys<'a> {
    /// Indices of these kinds.
    ///
    /// # Safety
    /// They are only passed along with keys of these kinds, with tables and trees of such keys, and with heaps of the
    /// memory in which those lie.
    #[inline]
    pub unsafe fn new(kinds: &'a [Kind]) -> Keys<'a> {
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

    /// The words of a key.
    pub fn words<'k>(&self, key: Key<'k>) -> &'k [u64] {
        // SAFETY: a key has a word for each index, which nobody changes as long as it lasts.
        unsafe { slice::from_raw_parts(key.as_ptr(), self.width()) }
    }

    /// Whether a text of a key is longer than [`LONGEST_HASHED`]: see [`super::oversized`].
    #[inline]
    pub fn is_oversized(&self, key: Key) -> bool {
        // SAFETY: a key has a word of each kind.
        unsafe {
            match *self.kinds {
                [kind] => is_long(kind, key.word(0)),
                _ => self.kinds.iter().enumerate().any(|(i, &kind)| is_long(kind, key.word(i))),
            }
        }
    }

    /// The order of two keys.
    pub fn compare(&self, a: Key, b: Key) -> Ordering {
        self.compare_in_parts(Caller::HASTY, a, b)
    }

    /// The same; other processes may run between parts of long texts.
    #[inline]
    pub fn compare_in_parts(&self, by: Caller, a: Key, b: Key) -> Ordering {
        for (i, &kind) in self.kinds.iter().enumerate() {
            // SAFETY: a key has a word of each kind, and a text is live or null.
            let order = unsafe {
                let (a, b) = (a.word(i), b.word(i));
                match kind {
                    Kind::Text => text::compare(by, a as *const TextHead, b as *const TextHead),
                    _ => (a as i64).cmp(&(b as i64)),
                }
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }

    /// Whether two keys are equal.
    #[inline]
    pub fn equal(&self, a: Key, b: Key) -> bool {
        self.equal_in_parts(Caller::HASTY, a, b)
    }

    /// The same; other processes may run between parts of long texts.
    #[inline]
    pub fn equal_in_parts(&self, by: Caller, a: Key, b: Key) -> bool {
        // SAFETY: a key has a word of each kind.
        unsafe {
            let equal_at = |i, kind| equal_words(by, kind, a.word(i), b.word(i));
            match *self.kinds {
                [kind] => equal_at(0, kind),
                _ => self.kinds.iter().enumerate().all(|(i, &kind)| equal_at(i, kind)),
            }
        }
    }

    /// Whether two keys are the same words: then they are equal, but not the other way round.
    #[inline]
    pub fn is_same(&self, a: Key, b: Key) -> bool {
        // SAFETY: a key has a word for each index.
        (0..self.width()).all(|i| unsafe { a.word(i) == b.word(i) })
    }

    /// The entry with the smaller key. (At most one of the keys is oversized.)
    #[inline]
    pub fn first<'k, E>(
        &self,
        one: Option<(Key<'k>, E)>,
        other: Option<(Key<'k>, E)>,
    ) -> Option<(Key<'k>, E)> {
        match (one, other) {
            (Some(one), Some(other)) if self.compare(other.0, one.0).is_lt() => Some(other),
            (one, other) => one.or(other),
        }
    }

    /// A hash of a key, the same for equal keys. No oversized key is in a hash table, so only the beginning of its text
    /// counts.
    #[inline]
    pub fn hash(&self, key: Key, seed: u64) -> u64 {
        // SAFETY: a key has a word of each kind.
        unsafe {
            match *self.kinds {
                [kind] => hash_word(kind, key.word(0), seed),
                _ => {
                    let words = self.kinds.iter().enumerate();
                    words.fold(seed, |hash, (i, &kind)| hash_word(kind, key.word(i), hash))
                }
            }
        }
    }

    /// One more holder for the texts of a key.
    #[inline]
    pub fn hold(&self, heap: &Heap, key: Key) {
        for (i, &kind) in self.kinds.iter().enumerate() {
            if kind == Kind::Text {
                // SAFETY: a key has a word of each kind, and a text is live or null.
                unsafe { text::copy(heap, key.word(i) as *mut TextHead) };
            }
        }
    }

    /// One holder less for the texts of a key.
    ///
    /// # Safety
    /// These words held the texts, and do no longer: they are not used as a key again.
    #[inline]
    pub unsafe fn drop(&self, heap: &mut Heap, words: *const u64) {
        for (i, &kind) in self.kinds.iter().enumerate() {
            if kind == Kind::Text {
                // SAFETY: there is a word of each kind, and it held its text until now.
                unsafe { text::drop(heap, *words.add(i) as *mut TextHead) };
            }
        }
    }
}

/// Whether a text is too long to be hashed.
///
/// # Safety
/// If `kind` is Text, `word` is a live text or null.
#[inline]
unsafe fn is_long(kind: Kind, word: u64) -> bool {
    // SAFETY: a word of kind Text is a live text or null.
    kind == Kind::Text && unsafe { text::is_longer(word as *const TextHead, LONGEST_HASHED) }
}

/// Whether two words of a kind are equal.
///
/// # Safety
/// If `kind` is Text, `a` and `b` are live texts or null.
#[inline]
unsafe fn equal_words(by: Caller, kind: Kind, a: u64, b: u64) -> bool {
    // SAFETY: words of kind Text are live texts or null.
    a == b || kind == Kind::Text && unsafe { text::equal(by, a as *const TextHead, b as *const TextHead) }
}

/// Mixes a word into a hash.
///
/// # Safety
/// If `kind` is Text, `word` is a live text or null.
#[inline]
unsafe fn hash_word(kind: Kind, word: u64, seed: u64) -> u64 {
    match kind {
        // SAFETY: the word is a live text or null, and stays so while its bytes are read.
        Kind::Text => hash_bytes(unsafe { text::bytes(word as *const TextHead) }, seed),
        _ => mix(seed ^ word),
    }
}

/// Combines both halves of a product, so that every bit of the result depends on every bit of the word.
#[inline]
fn mix(word: u64) -> u64 {
    let product = u128::from(word) * 0x9E37_79B9_7F4A_7C15;
    (product >> 64) as u64 ^ product as u64
}

/// A function of its own, so that hashing a number is short enough to be inlined.
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
