//! The representation of a collection adapts to what a program does.

use std::collections::BTreeMap;
use std::ptr::null_mut;

use drystone_runtime::collection::{self, From};
use drystone_runtime::component::{Collection, Kind, Table};
use drystone_runtime::heap::{Heap, Memory};
use drystone_runtime::layout::{CollectionHead, Fault};
use drystone_runtime::long::Caller;

/// `a[i: INTEGER]: INTEGER`
pub const NUMBERS: Collection =
    Collection { keys: Table::new(&[Kind::Word]), element: Kind::Word, array: false, boolean_keys: false };

/// A collection of type [`NUMBERS`].
pub struct Numbers {
    pub heap: Heap,
    cell: *mut u8,
}

impl Numbers {
    pub fn new(limit: usize) -> Numbers {
        Numbers { heap: Heap::new(Memory::new(limit, None)), cell: null_mut() }
    }

    pub fn put(&mut self, key: i64, value: i64) -> Result<(), Fault> {
        // SAFETY: the element is used at once.
        unsafe {
            let element = collection::insert(&mut self.heap, &mut self.cell, &NUMBERS, &(key as u64))?;
            *element.cast::<i64>() = value;
        }
        Ok(())
    }

    pub fn fill(&mut self, keys: impl IntoIterator<Item = i64>) {
        keys.into_iter().for_each(|key| self.put(key, key).unwrap());
    }

    pub fn get(&mut self, key: i64) -> Option<i64> {
        // SAFETY: the element is used at once.
        unsafe {
            collection::find(Caller::HASTY, &mut self.cell, &NUMBERS, &(key as u64))
                .cast::<i64>()
                .as_ref()
                .copied()
        }
    }

    pub fn remove(&mut self, key: i64) -> bool {
        // SAFETY: the arguments belong together.
        unsafe { collection::remove(Caller::HASTY, &mut self.heap, &mut self.cell, &NUMBERS, &(key as u64)) }
    }

    /// All keys by FOREACH.
    pub fn keys(&mut self) -> Vec<i64> {
        let (mut keys, mut key, mut from) = (Vec::new(), 0, From::Start);
        // SAFETY: the arguments belong together.
        while !unsafe {
            collection::next(Caller::HASTY, &mut self.heap, &mut self.cell, &NUMBERS, &mut key, from)
        }
        .is_null()
        {
            keys.push(key as i64);
            from = From::Key;
        }
        keys
    }

    /// First key and length of the dense part.
    fn dense(&self) -> (i64, u64) {
        // SAFETY: the head of a collection that has had an element.
        let head = unsafe { &*self.cell.cast::<CollectionHead>() };
        (head.low, head.length)
    }
}

impl Drop for Numbers {
    fn drop(&mut self) {
        // SAFETY: the arguments belong together.
        unsafe { collection::free(&mut self.heap, &mut self.cell, &NUMBERS) };
        assert_eq!(self.heap.live(), 0);
    }
}

const MANY: i64 = if cfg!(miri) { 200 } else { 100_000 };

/// Numbers without any order.
fn scattered(i: i64) -> i64 {
    i.wrapping_mul(0x1E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0x11B5_4A32_D192_ED03)
}

#[test]
fn ascending_and_descending_keys_are_dense() {
    let mut numbers = Numbers::new(usize::MAX);
    numbers.fill(0..MANY);
    numbers.fill((-MANY..0).rev());
    assert_eq!(numbers.dense(), (-MANY, 2 * MANY as u64));
    assert!((-MANY..MANY).all(|key| numbers.get(key) == Some(key)));
}

#[test]
fn both_ends_by_turns_are_dense() {
    let mut numbers = Numbers::new(usize::MAX);
    numbers.fill((0..MANY).flat_map(|i| [i, -1 - i]));
    assert_eq!(numbers.dense(), (-MANY, 2 * MANY as u64));
}

#[test]
fn keys_in_any_order_are_dense_when_all_are_there() {
    let mut numbers = Numbers::new(usize::MAX);
    let count = if cfg!(miri) { 211 } else { 100_003 };
    numbers.fill((0..count).map(|i| i * 5_009 % count));
    assert_eq!(numbers.dense(), (0, count as u64));
    assert_eq!(numbers.keys(), (0..count).collect::<Vec<_>>());
}

#[test]
fn an_outlier_does_not_keep_the_others_from_being_dense() {
    for outlier in [-1_000_000, i64::MAX, i64::MIN] {
        let mut numbers = Numbers::new(usize::MAX);
        numbers.fill([outlier]);
        numbers.fill(0..MANY);
        assert_eq!(numbers.dense(), (0, MANY as u64));
        assert_eq!(numbers.get(outlier), Some(outlier));
        assert_eq!(numbers.keys().len() as i64, MANY + 1);
    }
}

#[test]
fn the_ends_of_the_integers_are_no_neighbours() {
    let mut numbers = Numbers::new(usize::MAX);
    numbers.fill([i64::MAX - 1, i64::MAX, i64::MIN, i64::MIN + 1]);
    assert_eq!(numbers.keys(), [i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX]);
}

#[test]
fn removing_in_the_middle_leaves_the_longer_side_dense() {
    let mut numbers = Numbers::new(usize::MAX);
    numbers.fill(0..MANY);
    assert!(numbers.remove(17) && !numbers.remove(17));
    assert_eq!(numbers.dense(), (18, MANY as u64 - 18));
    assert!(numbers.remove(MANY - 10));
    assert_eq!(numbers.dense(), (18, MANY as u64 - 28));
    assert!((0..MANY).all(|key| numbers.get(key).is_some() == (key != 17 && key != MANY - 10)));
    numbers.fill([17, MANY - 10]);
    assert_eq!(numbers.dense(), (0, MANY as u64));
}

#[test]
fn removing_and_inserting_in_the_middle_is_no_way_to_make_it_slow() {
    let mut numbers = Numbers::new(usize::MAX);
    numbers.fill(0..MANY);
    for _ in 0..MANY {
        assert!(numbers.remove(MANY / 2));
        numbers.fill([MANY / 2]);
    }
    assert_eq!(numbers.keys(), (0..MANY).collect::<Vec<_>>());
}

#[test]
fn a_queue_needs_memory_for_what_it_holds_only() {
    let mut numbers = Numbers::new(usize::MAX);
    numbers.fill(0..100);
    for i in 0..MANY {
        numbers.fill([100 + i]);
        assert!(numbers.remove(i));
        assert!(numbers.heap.live() < 4000);
    }
    assert_eq!(numbers.dense(), (MANY, 100));
}

#[test]
fn many_scattered_keys_do_the_same_as_a_btreemap() {
    let mut numbers = Numbers::new(usize::MAX);
    let mut model = BTreeMap::new();
    for i in 0..2 * MANY {
        numbers.put(scattered(i), i).unwrap();
        model.insert(scattered(i), i);
        if i % 3 == 0 {
            assert!(numbers.remove(scattered(i / 2)) == model.remove(&scattered(i / 2)).is_some());
        }
    }
    assert!((0..2 * MANY).all(|i| numbers.get(scattered(i)) == model.get(&scattered(i)).copied()));
    assert_eq!(numbers.keys(), model.keys().copied().collect::<Vec<_>>());
    for i in (0..2 * MANY).rev() {
        assert!(numbers.remove(scattered(i)) == model.remove(&scattered(i)).is_some());
    }
    assert_eq!(numbers.keys(), []);
}

#[test]
fn removing_in_the_middle_moves_nothing() {
    let mut numbers = Numbers::new(usize::MAX);
    numbers.fill(0..MANY);
    let before = numbers.heap.live();
    let middle = MANY / 2;
    assert!(numbers.remove(middle) && !numbers.remove(middle));
    assert_eq!(numbers.heap.live(), before);
    assert_eq!(numbers.dense().1 as i64, middle);
    assert!((0..MANY).all(|key| numbers.get(key) == (key != middle).then_some(key)));
    assert!(numbers.keys().into_iter().eq((0..MANY).filter(|&key| key != middle)));
    // At the ends it goes on as before.
    numbers.put(MANY, 1).unwrap();
    assert!(numbers.remove(0) && numbers.remove(MANY));
    // What fills the gap makes everything dense again.
    numbers.put(middle, middle).unwrap();
    assert_eq!(numbers.dense(), (1, MANY as u64 - 1));
    assert_eq!(numbers.heap.live(), before);
}

#[test]
fn where_most_keys_are_missing_the_others_need_no_room_for_all() {
    let mut numbers = Numbers::new(usize::MAX);
    numbers.fill(0..MANY);
    let kept = |key: i64| key % 100 == 99;
    for key in (0..MANY).rev().filter(|&key| !kept(key) && key > 0) {
        assert!(numbers.remove(key));
    }
    for key in (0..MANY).filter(|&key| key % 100 == 50) {
        numbers.put(key, -key).unwrap();
        assert!(numbers.remove(key));
    }
    let all: Vec<i64> = (0..MANY).filter(|&key| kept(key) || key == 0).collect();
    assert!(numbers.heap.live() < 100 * all.len() + 4000, "{} for {}", numbers.heap.live(), all.len());
    assert!(all.iter().all(|&key| numbers.get(key) == Some(key)));
    assert_eq!(numbers.keys(), all);
}

#[test]
fn a_gap_at_an_end_is_no_longer_there() {
    let mut numbers = Numbers::new(usize::MAX);
    numbers.fill(0..1000);
    for key in (700..999).chain(1..200).chain([999, 0]) {
        assert!(numbers.remove(key));
    }
    assert_eq!(numbers.dense(), (200, 500));
    assert_eq!(numbers.keys(), (200..700).collect::<Vec<_>>());
    numbers.fill(700..800);
    assert_eq!(numbers.dense(), (200, 600));
}
