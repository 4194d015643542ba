//! Memory is at most about twice what the elements need, and no element is lost where memory runs out.

use std::ptr::null_mut;

use drystone_runtime::collection::{self, From};
use drystone_runtime::component::{Collection, Kind, Table};
use drystone_runtime::heap::{Heap, Memory};
use drystone_runtime::layout::Fault;
use drystone_runtime::long::Caller;

use super::adaptation::Numbers;

const SMALL: bool = cfg!(miri);

/// Runs through phases of growing, asking for the order, shrinking and growing again.
fn check_factor(kinds: &'static [Kind], needed: usize, key: fn(u64) -> Vec<u64>) {
    let description =
        Collection { keys: Table::new(kinds), element: Kind::Word, array: false, boolean_keys: false };
    let mut heap = Heap::new(Memory::new(usize::MAX, None));
    let mut cell = null_mut();
    let count = if SMALL { 100 } else { 30_000 };
    let mut worst = 0.0f64;
    // SAFETY: keys and description belong together.
    unsafe {
        for ordered in [false, true] {
            for i in 0..count {
                let added = collection::insert(&mut heap, &mut cell, &description, key(i).as_ptr());
                added.unwrap();
                if i > 50 {
                    worst = worst.max(heap.live() as f64 / (needed * (i as usize + 1)) as f64);
                }
            }
            if ordered {
                let mut first = vec![0; kinds.len()];
                collection::next(
                    Caller::HASTY,
                    &mut heap,
                    &mut cell,
                    &description,
                    first.as_mut_ptr(),
                    From::Start,
                );
            }
            for i in 0..count {
                assert!(collection::remove(
                    Caller::HASTY,
                    &mut heap,
                    &mut cell,
                    &description,
                    key(i).as_ptr()
                ));
                if count - i > 50 {
                    // Shrinking may be later than growing by a factor.
                    worst = worst.max(heap.live() as f64 / (2 * needed * (count - i) as usize) as f64);
                }
            }
        }
        collection::free(&mut heap, &mut cell, &description);
    }
    assert!(worst < 2.2, "{worst} times of what is needed");
    assert_eq!(heap.live(), 0);
}

fn scattered(i: u64) -> u64 {
    i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xD1B5_4A32_D192_ED03)
}

#[test]
fn memory_is_about_twice_of_what_elements_need() {
    check_factor(&[Kind::Word], 8, |i| vec![i]);
    check_factor(&[Kind::Word], 8, |i| vec![i.wrapping_neg()]);
    check_factor(&[Kind::Word], 16, |i| vec![scattered(i)]);
    check_factor(&[Kind::Word, Kind::Word], 24, |i| vec![i % 10, i / 10]);
    check_factor(&[Kind::Word, Kind::Word, Kind::Word], 32, |i| {
        vec![scattered(i) % 3, scattered(i) % 1000, i]
    });
}

#[test]
fn a_collection_that_was_larger_needs_no_more_for_a_few_elements() {
    for order in [|i: i64| i, |i: i64| scattered(i as u64) as i64] {
        let mut numbers = Numbers::new(usize::MAX);
        numbers.fill((0..60).map(order));
        assert_eq!(numbers.keys().len(), 60);
        assert!((1..60).all(|i| numbers.remove(order(i))));
        assert!(numbers.heap.live() < 300, "{} bytes for one element", numbers.heap.live());
    }
}

#[test]
fn bytes_in_order_need_a_byte_each() {
    let description = Collection {
        keys: Table::new(&[Kind::Word]),
        element: Kind::Byte,
        array: false,
        boolean_keys: false,
    };
    let mut heap = Heap::new(Memory::new(usize::MAX, None));
    let mut cell = null_mut();
    // SAFETY: keys and description belong together.
    unsafe {
        for i in 0..10_000u64 {
            *collection::insert(&mut heap, &mut cell, &description, &i).unwrap() = i as u8;
        }
        assert!(heap.live() < 20_000);
        assert!(
            (0..10_000u64).all(|i| *collection::find(Caller::HASTY, &mut cell, &description, &i) == i as u8)
        );
        collection::free(&mut heap, &mut cell, &description);
    }
}

#[test]
fn where_there_is_no_memory_nothing_is_lost() {
    let scatter = |i: i64| scattered(i as u64) as i64;
    let orders: [fn(i64) -> i64; 2] = [|i| i, |i| scattered(i as u64) as i64];
    let limits: &[usize] = if SMALL { &[500, 2000] } else { &[50, 200, 500, 2000, 10_000, 100_000, 500_000] };
    for order in orders {
        for &limit in limits {
            let mut numbers = Numbers::new(limit);
            let mut count = 0;
            while count < 1_000_000 {
                match numbers.put(order(count), count) {
                    Ok(()) => count += 1,
                    Err(fault) => {
                        assert_eq!(fault, Fault::OutOfMemory);
                        break;
                    }
                }
            }
            assert!(count as usize * 8 < limit.max(64));
            assert!((0..count).all(|i| numbers.get(order(i)) == Some(i)));
            assert_eq!(numbers.get(scatter(-1)), None);
            // FOREACH and removing in the middle want memory; they must do without, or take it.
            let mut expected: Vec<_> = (0..count).map(order).collect();
            expected.sort_unstable();
            if count < 5000 {
                assert_eq!(numbers.keys(), expected);
            }
            for i in (0..count).filter(|i| i % 3 == 1) {
                assert!(numbers.remove(order(i)));
            }
            assert!((0..count).all(|i| numbers.get(order(i)) == (i % 3 != 1).then_some(i)));
        }
    }
}
