//! Tests of records and sequences: what they hold is held once, and nothing is left.

use alloc::string::String;
use alloc::vec::Vec;
use core::ptr::null_mut;

use drystone_component::form::{Form, Kind, Layout};
use drystone_component::wire::{put_opaque, put_u32, put_u64};
use proptest::prelude::*;

use super::equality::values_equal;
use super::holding::{AT_ONCE, words};
use super::records::{Shape, own};
use super::sequences::{self, count, insert, join, place, remove, slice};
use super::sorting::{Keys, sorted};
use super::{copy, drop, elsewhere, empty_spent, make, records};
use crate::heap::{Heap, Memory};
use crate::layout::{Fault, TextHead};
use crate::long::Caller;

fn config() -> ProptestConfig {
    let cases = if cfg!(miri) { 4 } else { 500 };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn heap() -> Heap {
    Heap::new(Memory::new(1 << 30, None))
}

/// A change of one of two sequences.
#[derive(Clone, Debug)]
enum Change {
    Insert(i64, u8),
    Remove(i64),
    Set(i64, u8),
    Copy,
    Swap,
    Slice(i64, i64),
    Join,
    Sort,
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let index = -1i64..12;
    let change = prop_oneof![
        4 => (index.clone(), 0u8..9).prop_map(|(index, x)| Change::Insert(index, x)),
        2 => index.clone().prop_map(Change::Remove),
        3 => (index.clone(), 0u8..9).prop_map(|(index, x)| Change::Set(index, x)),
        1 => Just(Change::Copy),
        1 => Just(Change::Swap),
        1 => (index.clone(), index).prop_map(|(from, n)| Change::Slice(from, n)),
        1 => Just(Change::Join),
        1 => Just(Change::Sort),
    ];
    prop::collection::vec(change, 0..if cfg!(miri) { 20 } else { 60 })
}

/// A word for a number: a text of it, or the number.
fn word(heap: &mut Heap, x: u8, is_owned: bool) -> u64 {
    if is_owned { make(heap, &[x]).expect("there is memory") as u64 } else { x.into() }
}

/// The numbers of a sequence.
///
/// # Safety
/// It is live.
unsafe fn numbers(sequence: *mut TextHead, is_owned: bool) -> Vec<u8> {
    // SAFETY: the words lie within the sequence.
    unsafe {
        let read = |index| *words(sequence).add(index);
        let number = |word| if is_owned { super::bytes(word as *const TextHead)[0] } else { word as u8 };
        (0..count(sequence)).map(read).map(number).collect()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn sequences_do_what_vectors_do(changes in changes(), is_owned: bool) {
        let mut heap = heap();
        let here = &raw mut heap;
        let (mut a, mut b): (*mut TextHead, *mut TextHead) = (null_mut(), null_mut());
        let (mut x, mut y) = (Vec::<u8>::new(), Vec::<u8>::new());
        let by = Caller::HASTY;
        let inside = |index: i64, limit: usize| usize::try_from(index).ok().filter(|&index| index < limit);
        // SAFETY: both are variables of this test; each is dropped at the end.
        unsafe {
            for change in changes {
                let done = match change {
                    Change::Insert(index, value) => {
                        let expected = inside(index, x.len() + 1);
                        let made = insert(by, here, &mut a, index, is_owned);
                        if let (Ok(place), Some(index)) = (made, expected) {
                            prop_assert_eq!(*place, 0);
                            *place = word(&mut *here, value, is_owned);
                            x.insert(index, value);
                        }
                        (made.err(), expected)
                    }
                    Change::Remove(index) => {
                        let expected = inside(index, x.len());
                        let removed = remove(by, here, &mut a, index);
                        if let Some(index) = expected {
                            x.remove(index);
                        }
                        (removed.err(), expected)
                    }
                    Change::Set(index, value) => {
                        let expected = inside(index, x.len());
                        let found = place(by, here, &mut a, index);
                        if let (Ok(place), Some(index)) = (found, expected) {
                            let old = place.replace(word(&mut *here, value, is_owned));
                            if is_owned {
                                drop(&mut *here, old as *mut TextHead);
                            }
                            x[index] = value;
                        }
                        (found.err(), expected)
                    }
                    Change::Copy => {
                        drop(&mut *here, b);
                        (b, y) = (copy(&*here, a), x.clone());
                        (None, Some(0))
                    }
                    Change::Swap => {
                        core::mem::swap(&mut a, &mut b);
                        core::mem::swap(&mut x, &mut y);
                        (None, Some(0))
                    }
                    Change::Slice(from, n) => {
                        let part = inside(from, x.len() + 1).zip(inside(n, x.len() + 1));
                        let part = part.and_then(|(from, n)| x.get(from..from + n)).map(<[u8]>::to_vec);
                        let made = slice(by, here, a, from, n);
                        let expected = part.is_some().then_some(0);
                        if let (Ok(made), Some(part)) = (made, part) {
                            drop(&mut *here, a);
                            (a, x) = (made, part);
                        }
                        (made.err(), expected)
                    }
                    Change::Join => {
                        let both = join(by, here, b, a).expect("there is memory");
                        drop(&mut *here, a);
                        a = both;
                        x = [&y[..], &x].concat();
                        x.truncate(40);
                        let cut = slice(by, here, a, 0, x.len() as i64).expect("there are as many");
                        drop(&mut *here, a);
                        a = cut;
                        (None, Some(0))
                    }
                    Change::Sort => {
                        let kind = if is_owned { Keys::Texts } else { Keys::Numbers };
                        let made = sorted(by, here, a, a, kind).expect("there is memory");
                        drop(&mut *here, a);
                        a = made;
                        x.sort();
                        (None, Some(0))
                    }
                };
                match done {
                    (None, Some(_)) | (Some(Fault::IndexOutOfBounds), None) => {}
                    other => prop_assert!(false, "{other:?}"),
                }
                prop_assert_eq!(numbers(a, is_owned), &x[..]);
                prop_assert_eq!(numbers(b, is_owned), &y[..]);
                let form = Form::new(if is_owned { "[t" } else { "[i" });
                prop_assert_eq!(values_equal(by, a as u64, b as u64, form), x == y);
            }
            drop(&mut *here, a);
            drop(&mut *here, b);
        }
        prop_assert_eq!(heap.live(), 0);
    }
}

/// Random forms of values.
fn forms() -> impl Strategy<Value = String> {
    let plain = prop::sample::select(&["b", "c", "i", "r", "t"][..]).prop_map(String::from);
    plain.prop_recursive(4, 16, 4, |inner| {
        let record = prop::collection::vec(inner.clone(), 0..4).prop_map(|fields| {
            let fields: Vec<String> = fields.iter().map(|form| alloc::format!("f:{form}")).collect();
            alloc::format!("({})", fields.join(","))
        });
        prop_oneof![inner.prop_map(|form| alloc::format!("[{form}")), record]
    })
}

/// Some value of a form, as bytes; `more` decides.
fn some(form: Form<'_>, more: &mut impl FnMut(u32) -> u32, out: &mut Vec<u8>) {
    match form.kind() {
        Kind::Boolean => put_u32(out, more(2)),
        Kind::Character => put_u32(out, more(256)),
        Kind::Integer | Kind::Real => put_u64(out, more(1000).into()),
        Kind::Text => put_opaque(out, &b"several"[..more(7) as usize]),
        Kind::Sequence(element) => {
            let count = more(4);
            put_u32(out, count);
            (0..count).for_each(|_| some(element, more, out));
        }
        Kind::Record(fields) if fields.count() == 0 => put_u32(out, 0),
        Kind::Record(fields) => fields.for_each(|(_, form)| some(form, more, out)),
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn values_come_back_as_they_went(form in forms(), seed: u32, at: prop::sample::Index, by in 1u8..) {
        let form = alloc::format!("[{form}");
        let form = Form::new(&form);
        let mut heap = heap();
        let (mut state, mut bytes) = (seed, Vec::new());
        let mut more = |limit| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % limit
        };
        some(form, &mut more, &mut bytes);
        let layout = Layout::of(form);
        let word = elsewhere::decode(&mut heap, &layout, &bytes).expect("it is whole");
        let again = elsewhere::decode(&mut heap, &layout, &bytes).expect("it is whole");
        let mut back = Vec::new();
        // SAFETY: both values are of that form, and are dropped once.
        unsafe {
            elsewhere::encode(word, &layout, &mut back).expect("it is short");
            prop_assert!(values_equal(Caller::HASTY, word, again, form));
            drop(&mut heap, word as *mut TextHead);
            drop(&mut heap, again as *mut TextHead);
        }
        prop_assert_eq!(&back, &bytes);
        prop_assert_eq!(heap.live(), 0);
        // Whatever comes from outside is refused, or is another value.
        let mut wrong = bytes.clone();
        wrong[at.index(bytes.len())] ^= by;
        for wrong in [&wrong[..], &bytes[..at.index(bytes.len())], &[&bytes[..], &[0]].concat()] {
            if let Ok(word) = elsewhere::decode(&mut heap, &layout, wrong) {
                // SAFETY: it was made just now.
                unsafe { drop(&mut heap, word as *mut TextHead) };
            }
            prop_assert_eq!(heap.live(), 0);
        }
    }
}

#[test]
fn long_sequences_are_emptied_in_parts() {
    let mut heap = heap();
    let here = &raw mut heap;
    let long = 3 * AT_ONCE + 1;
    // SAFETY: the sequence is this test's, and is dropped once.
    unsafe {
        let sequence = sequences::make(Caller::HASTY, here, long, true).expect("there is memory");
        for index in 0..long {
            *words(sequence).add(index) = word(&mut *here, 1, true);
        }
        drop(&mut *here, sequence);
        let mut parts = 1;
        while empty_spent(&mut *here, &mut |_| true) {
            parts += 1;
        }
        assert_eq!(parts, 4);
    }
    assert_eq!(heap.live(), 0);
}

#[test]
fn a_block_is_left_when_most_of_it_is_unused() {
    let mut heap = heap();
    let here = &raw mut heap;
    let mut cell = null_mut();
    // SAFETY: the variable is this test's.
    unsafe {
        for index in 0..200 {
            *insert(Caller::HASTY, here, &mut cell, index, false).expect("there is memory") = index as u64;
        }
        let full = (*here).live();
        assert!(full < 16 + 8 * 200 * 3 / 2, "{full}");
        for index in (3..200).rev() {
            remove(Caller::HASTY, here, &mut cell, index).expect("it is there");
        }
        assert!((*here).live() <= 128, "{}", (*here).live());
        assert_eq!(numbers(cell, false), [0, 1, 2]);
        drop(&mut *here, cell);
    }
    assert_eq!(heap.live(), 0);
}

#[test]
fn a_record_is_copied_before_it_is_changed() {
    let mut heap = heap();
    let (inner, outer) = (Shape { words: 2, owned: 1 }, Shape { words: 3, owned: 2 });
    let mut a = null_mut();
    // SAFETY: the variables are this test's; what is put into a record belongs to it.
    unsafe {
        let record = own(&mut heap, &mut a, outer).expect("there is memory");
        assert_eq!(core::slice::from_raw_parts(words(record), 3), [0, 0, 0]);
        *words(record) = make(&mut heap, b"text").expect("there is memory") as u64;
        let within = records::make(&mut heap, inner).expect("there is memory");
        *words(within).add(1) = 7;
        *words(record).add(1) = within as u64;
        assert_eq!(own(&mut heap, &mut a, outer).expect("it is ours"), record);
        let mut b = copy(&heap, a);
        let changed = own(&mut heap, &mut b, outer).expect("there is memory");
        assert_ne!(changed, record);
        *words(changed).add(2) = 9;
        // The record in it is still shared.
        let cell = words(changed).add(1).cast::<*mut TextHead>();
        assert_eq!(*cell, within);
        let own_within = own(&mut heap, cell, inner).expect("there is memory");
        *words(own_within).add(1) = 8;
        assert_eq!((*words(within).add(1), *words(record).add(2)), (7, 0));
        let form = Form::new("(name:t,within:(x:i,t:t),n:i)");
        assert!(!values_equal(Caller::HASTY, a as u64, b as u64, form));
        *words(own_within).add(1) = 7;
        *words(changed).add(2) = 0;
        assert!(values_equal(Caller::HASTY, a as u64, b as u64, form));
        drop(&mut heap, a);
        drop(&mut heap, b);
    }
    assert_eq!(heap.live(), 0);
}
