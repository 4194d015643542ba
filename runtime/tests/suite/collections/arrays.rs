//! `{ARRAY}` collections, and what holds for all collections of components.

use std::ptr::null_mut;

use drystone_runtime::collection::{self, From};
use drystone_runtime::component::{Collection, Kind, Table};
use drystone_runtime::heap::{Heap, Memory};
use drystone_runtime::layout::{ArrayHead, Fault, Instance};
use drystone_runtime::long::Caller;

fn describe(kinds: &'static [Kind], element: Kind, array: bool) -> Collection {
    Collection { keys: Table::new(kinds), element, array, boolean_keys: false }
}

fn heap() -> Heap {
    Heap::new(Memory::new(1 << 30, None))
}

/// All keys by FOREACH.
fn keys(heap: &mut Heap, cell: &mut *mut u8, description: &Collection) -> Vec<Vec<i64>> {
    let mut key = vec![0u64; description.keys.length];
    let (mut keys, mut from) = (Vec::new(), From::Start);
    // SAFETY: the arguments belong together.
    while !unsafe { collection::next(Caller::HASTY, heap, cell, description, key.as_mut_ptr(), from) }
        .is_null()
    {
        keys.push(key.iter().map(|&word| word as i64).collect());
        from = From::Key;
    }
    keys
}

#[test]
fn an_array_has_all_elements_within_its_bounds_and_no_others() {
    let description = describe(&[Kind::Word, Kind::Word], Kind::Byte, true);
    let (mut heap, mut cell) = (heap(), null_mut());
    // SAFETY: the arguments belong together.
    unsafe {
        assert!(collection::find(Caller::HASTY, &mut cell, &description, [0, 0].as_ptr()).is_null());
        assert_eq!(
            collection::make_array(&mut heap, &mut cell, &description, &[3, -1]),
            Err(Fault::InvalidArgument)
        );
        collection::make_array(&mut heap, &mut cell, &description, &[3, 4]).unwrap();
        assert_eq!(
            collection::make_array(&mut heap, &mut cell, &description, &[1, 1]),
            Err(Fault::FullContainer)
        );
        assert_eq!((*cell.cast::<ArrayHead>()).count, 12);
        for i in -2i64..6 {
            for j in -2i64..6 {
                let key = [i as u64, j as u64];
                let element = collection::find(Caller::HASTY, &mut cell, &description, key.as_ptr());
                assert_eq!(!element.is_null(), (0..3).contains(&i) && (0..4).contains(&j));
                if !element.is_null() {
                    assert_eq!(*element, 0);
                    *element = (10 * i + j) as u8;
                }
            }
        }
        assert_eq!(*(*cell.cast::<ArrayHead>()).elements.add(7), 13);
        assert!(collection::remove(Caller::HASTY, &mut heap, &mut cell, &description, [1, 3].as_ptr()));
        assert_eq!(*collection::find(Caller::HASTY, &mut cell, &description, [1, 3].as_ptr()), 0);
        let all: Vec<_> = (0..3).flat_map(|i| (0..4).map(move |j| vec![i, j])).collect();
        assert_eq!(keys(&mut heap, &mut cell, &description), all);
        for i in -2i64..6 {
            for j in -2i64..6 {
                let mut key = [i as u64, j as u64];
                let next = collection::next(
                    Caller::HASTY,
                    &mut heap,
                    &mut cell,
                    &description,
                    key.as_mut_ptr(),
                    From::Key,
                );
                let expected = all.iter().find(|other| **other > vec![i, j]);
                let found = (!next.is_null()).then(|| key.map(|word| word as i64).to_vec());
                assert_eq!(found.as_ref(), expected, "after {i}, {j}");
            }
        }
        collection::free(&mut heap, &mut cell, &description);
    }
    assert_eq!(heap.live(), 0);
}

#[test]
fn arrays_may_be_empty_and_may_be_too_large() {
    let description = describe(&[Kind::Word, Kind::Word], Kind::Word, true);
    let (mut heap, mut cell) = (heap(), null_mut());
    // SAFETY: the arguments belong together.
    unsafe {
        for sizes in [[i64::MAX, i64::MAX], [1 << 31, 1 << 31], [1 << 30, 1]] {
            let made = collection::make_array(&mut heap, &mut cell, &description, &sizes);
            assert_eq!((made, cell.is_null()), (Err(Fault::OutOfMemory), true));
        }
        for sizes in [[0, 5], [5, 0], [i64::MAX, 0]] {
            collection::make_array(&mut heap, &mut cell, &description, &sizes).unwrap();
            assert!(collection::find(Caller::HASTY, &mut cell, &description, [0, 0].as_ptr()).is_null());
            assert_eq!(keys(&mut heap, &mut cell, &description), Vec::<Vec<i64>>::new());
            collection::free(&mut heap, &mut cell, &description);
        }
    }
    assert_eq!(heap.live(), 0);
}

#[test]
fn foreach_passes_over_containers_without_a_component() {
    let instance = Box::into_raw(Box::new(std::mem::MaybeUninit::<Instance>::zeroed()));
    for array in [false, true] {
        let description = describe(&[Kind::Word], Kind::Component, array);
        let (mut heap, mut cell) = (heap(), null_mut());
        // SAFETY: the arguments belong together; an instance full of zero is one that is not dead.
        unsafe {
            if array {
                collection::make_array(&mut heap, &mut cell, &description, &[20]).unwrap();
            }
            for key in 0..20u64 {
                let element = collection::insert(&mut heap, &mut cell, &description, &key).unwrap();
                if key % 7 == 3 {
                    *element.cast() = instance;
                }
            }
            assert_eq!(keys(&mut heap, &mut cell, &description), [[3], [10], [17]]);
            let mut containers = 0;
            collection::containers(&mut cell, &description, &mut |_, count| containers += count);
            assert_eq!(containers, 20);
            collection::free(&mut heap, &mut cell, &description);
        }
        assert_eq!(heap.live(), 0);
    }
    // SAFETY: it came from a box.
    drop(unsafe { Box::from_raw(instance) });
}
