//! Decodes a string of bytes as operations, runs them on a collection and on a `BTreeMap`, and compares all results.
//! The tests and the fuzzer share it.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};
use std::ptr::null_mut;

use drystone_runtime::collection::{self, From, LONGEST_HASHED};
use drystone_runtime::component::{Collection, Kind, Table};
use drystone_runtime::heap::{Heap, Memory};
use drystone_runtime::layout::TextHead;
use drystone_runtime::long::{self, Caller};
use drystone_runtime::text;

/// One index of a key, ordered as collections order it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Index {
    Number(i64),
    Text(Vec<u8>),
}

type Key = Vec<Index>;

/// The last one is so wide that few elements make a high tree.
const KEYS: [&[Kind]; 9] = [
    &[Kind::Word],
    &[Kind::Word],
    &[Kind::Word],
    &[Kind::Byte],
    &[Kind::Text],
    &[Kind::Word, Kind::Word],
    &[Kind::Text, Kind::Byte],
    &[Kind::Byte, Kind::Text, Kind::Word],
    &WIDE,
];

const WIDE: [Kind; 16] = {
    let mut kinds = [Kind::Word; 16];
    kinds[13] = Kind::Text;
    kinds
};

const ELEMENTS: [Kind; 3] = [Kind::Word, Kind::Byte, Kind::Text];

/// Neighbouring keys that are inserted or removed at once.
const LONGEST_RUN: u8 = if cfg!(miri) { 30 } else { 255 };

/// Where decisions come from; zeros follow the last byte.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        let (&first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        first
    }
}

/// A long text that differs from the others in a byte near its end only, or is as long as can be hashed or compared at
/// once.
fn oversized(choice: u8) -> Vec<u8> {
    let longest = if choice < 128 { long::PART } else { LONGEST_HASHED };
    let mut text = vec![b'd'; longest + usize::from(choice % 4)];
    let last = text.len() - 1;
    text[last - usize::from(choice / 4 % 2)] = b'a' + choice / 8 % 4;
    text
}

struct Pair {
    heap: Heap,
    description: Collection,
    cell: *mut u8,
    model: BTreeMap<Key, Vec<u8>>,
    /// The key that was used last: programs like to go on from there.
    last: i64,
}

/// Does what `bytes` say.
pub fn run(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let kinds = KEYS[bytes.next() as usize % KEYS.len()];
    let element = ELEMENTS[bytes.next() as usize % ELEMENTS.len()];
    let description = Collection { keys: Table::new(kinds), element, array: false, boolean_keys: false };
    let heap = Heap::new(Memory::new(usize::MAX, None));
    let mut pair = Pair { heap, description, cell: null_mut(), model: BTreeMap::new(), last: 0 };
    while !bytes.0.is_empty() {
        pair.step(&mut bytes);
    }
    pair.check_all();
    // SAFETY: the variable is not used any more.
    unsafe {
        while !collection::free_until(&mut pair.heap, &mut pair.cell, &pair.description, &mut || true) {
            // As far as that has come it is a collection like any other.
            let mut count = 0;
            let _ = collection::visit::<()>(&mut pair.cell, &pair.description, &mut |_, _| {
                count += 1;
                ControlFlow::Continue(())
            });
            assert!(count < pair.model.len());
        }
    }
    assert!(pair.cell.is_null());
    assert_eq!(pair.heap.live(), 0, "something is not freed");
}

impl Pair {
    fn step(&mut self, bytes: &mut Bytes) {
        match bytes.next() % 10 {
            0 | 1 => {
                let (key, value) = (self.key(bytes), bytes.next());
                self.insert(key, value);
            }
            2 | 3 => {
                let key = self.key(bytes);
                self.remove(&key);
            }
            4 => {
                let key = self.key(bytes);
                self.find(&key);
            }
            5 => {
                let (mut key, count, value) = (self.key(bytes), bytes.next(), bytes.next());
                for _ in 0..count % LONGEST_RUN {
                    self.insert(key.clone(), value);
                    self.advance(&mut key, if value % 2 == 0 { 1 } else { -1 });
                }
            }
            6 => {
                let (mut key, count, step) = (self.key(bytes), bytes.next(), bytes.next());
                for _ in 0..count % LONGEST_RUN {
                    self.remove(&key);
                    self.advance(&mut key, i64::from(step as i8 % 4));
                }
            }
            7 => {
                let key = self.key(bytes);
                self.next_of(key);
            }
            8 => self.visit_changing(bytes),
            _ => self.check_all(),
        }
    }

    fn key(&mut self, bytes: &mut Bytes) -> Key {
        let kinds = self.description.keys.get();
        let same = kinds.len().saturating_sub(3);
        let mut key = vec![Index::Number(0); same];
        key.extend(kinds[same..].iter().map(|&kind| self.index(kind, bytes)));
        key
    }

    fn index(&mut self, kind: Kind, bytes: &mut Bytes) -> Index {
        let style = bytes.next();
        match kind {
            Kind::Byte => Index::Number(i64::from(style)),
            Kind::Text => Index::Text(match style % 3 {
                0 => vec![],
                1 if style >= 252 => oversized(bytes.next()),
                1 => vec![b'a' + bytes.next() % 8],
                _ => format!("a text that is not so short {}", bytes.next()).into_bytes(),
            }),
            _ => {
                self.last = match style % 8 {
                    0 | 1 => self.last.wrapping_add(1),
                    2 => self.last.wrapping_sub(1),
                    3 | 4 => i64::from(bytes.next() as i8),
                    5 => i64::from(bytes.next()) << 8 | i64::from(bytes.next()),
                    6 => i64::MIN.wrapping_add(i64::from(bytes.next() as i8)),
                    _ => i64::from(bytes.next()).wrapping_mul(0x1234_5678_9ABC_DEF1),
                };
                Index::Number(self.last)
            }
        }
    }

    /// Goes on to a neighbour, if the last index is an INTEGER.
    fn advance(&mut self, key: &mut Key, by: i64) {
        if let (Some(Index::Number(number)), Some(Kind::Word)) =
            (key.last_mut(), self.description.keys.get().last())
        {
            *number = number.wrapping_add(by);
            self.last = *number;
        }
    }

    fn insert(&mut self, key: Key, value: u8) {
        let words = self.words(&key);
        // SAFETY: the words are a key; the element is used before anything else happens.
        unsafe {
            let is_new =
                collection::find(Caller::HASTY, &mut self.cell, &self.description, words.as_ptr()).is_null();
            assert_eq!(is_new, !self.model.contains_key(&key));
            let element =
                collection::insert(&mut self.heap, &mut self.cell, &self.description, words.as_ptr());
            let element = element.expect("there is memory");
            if is_new {
                assert_eq!(self.value(element), vec![0; usize::from(self.description.element != Kind::Text)]);
            }
            match self.description.element {
                Kind::Text => {
                    let cell = element.cast::<u64>();
                    text::drop(&mut self.heap, *cell as *mut TextHead);
                    *cell = text::make(&mut self.heap, &[value]).expect("there is memory") as u64;
                }
                Kind::Byte => *element = value,
                _ => *element.cast() = u64::from(value),
            }
        }
        self.drop_words(&words);
        self.model.insert(key, vec![value]);
    }

    fn remove(&mut self, key: &Key) {
        let words = self.words(key);
        // SAFETY: the words are a key.
        let removed = unsafe {
            collection::remove(
                Caller::HASTY,
                &mut self.heap,
                &mut self.cell,
                &self.description,
                words.as_ptr(),
            )
        };
        self.drop_words(&words);
        assert_eq!(removed, self.model.remove(key).is_some(), "{key:?}");
    }

    fn find(&mut self, key: &Key) {
        let words = self.words(key);
        // SAFETY: the words are a key; the element is used at once.
        let found = unsafe {
            let element = collection::find(Caller::HASTY, &mut self.cell, &self.description, words.as_ptr());
            (!element.is_null()).then(|| self.value(element))
        };
        self.drop_words(&words);
        assert_eq!(found.as_ref(), self.model.get(key), "{key:?}");
    }

    fn next_of(&mut self, key: Key) {
        let expected = self.model.range::<Key, _>((Bound::Excluded(&key), Bound::Unbounded)).next();
        let expected = expected.map(|(key, value)| (key.clone(), value.clone()));
        let mut words = self.words(&key);
        let found = self.next(&mut words, From::Key);
        self.drop_words(&words);
        assert_eq!(found, expected, "after {key:?}");
    }

    /// A FOREACH that removes and inserts meanwhile.
    fn visit_changing(&mut self, bytes: &mut Bytes) {
        let mut words = vec![0; self.description.keys.length];
        let mut from = From::Start;
        let mut last = None;
        for _ in 0..100 {
            let range = (last.as_ref().map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
            let expected = self.model.range::<Key, _>(range).next();
            let expected = expected.map(|(key, value)| (key.clone(), value.clone()));
            let found = self.next(&mut words, from);
            assert_eq!(found, expected);
            let Some((key, _)) = found else { break };
            match bytes.next() % 4 {
                0 => self.remove(&key),
                1 => {
                    let other = self.key(bytes);
                    self.insert(other, 7);
                }
                _ => {}
            }
            (last, from) = (Some(key), From::Key);
        }
        self.drop_words(&words);
    }

    /// FOREACH sees everything, and so does `visit`.
    fn check_all(&mut self) {
        let mut words = vec![0; self.description.keys.length];
        let mut visited = Vec::new();
        let mut cell = self.cell;
        // SAFETY: nothing changes meanwhile.
        let _ = unsafe {
            collection::visit::<()>(&mut cell, &self.description, &mut |words, element| {
                visited.push((self.key_of(words), self.value(element)));
                std::ops::ControlFlow::Continue(())
            })
        };
        let mut from = From::Start;
        let mut seen = Vec::new();
        while let Some(entry) = self.next(&mut words, from) {
            seen.push(entry);
            from = From::Key;
        }
        self.drop_words(&words);
        let expected: Vec<_> = self.model.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        assert_eq!(seen, expected);
        assert_eq!(visited, expected);
    }

    fn next(&mut self, words: &mut [u64], from: From) -> Option<(Key, Vec<u8>)> {
        // SAFETY: the words are a key, which holds its texts.
        unsafe {
            let element = collection::next(
                Caller::HASTY,
                &mut self.heap,
                &mut self.cell,
                &self.description,
                words.as_mut_ptr(),
                from,
            );
            (!element.is_null()).then(|| (self.key_of(words), self.value(element)))
        }
    }

    unsafe fn value(&self, element: *mut u8) -> Vec<u8> {
        // SAFETY: an element of this collection.
        unsafe {
            match self.description.element {
                Kind::Text => text::bytes(*element.cast::<u64>() as *const TextHead).to_vec(),
                Kind::Byte => vec![*element],
                _ => vec![u8::try_from(*element.cast::<u64>()).expect("a value that was written")],
            }
        }
    }

    fn words(&mut self, key: &Key) -> Vec<u64> {
        let mut word = |index: &Index| match index {
            Index::Number(number) => *number as u64,
            Index::Text(bytes) => text::make(&mut self.heap, bytes).expect("there is memory") as u64,
        };
        key.iter().map(&mut word).collect()
    }

    fn key_of(&self, words: &[u64]) -> Key {
        let index = |(&word, kind): (&u64, &Kind)| match kind {
            // SAFETY: a key of this collection.
            Kind::Text => Index::Text(unsafe { text::bytes(word as *const TextHead) }.to_vec()),
            _ => Index::Number(word as i64),
        };
        words.iter().zip(self.description.keys.get()).map(index).collect()
    }

    fn drop_words(&mut self, words: &[u64]) {
        for (&word, kind) in words.iter().zip(self.description.keys.get()) {
            if *kind == Kind::Text {
                // SAFETY: made by `words`, or given by `next`.
                unsafe { text::drop(&mut self.heap, word as *mut TextHead) };
            }
        }
    }
}
