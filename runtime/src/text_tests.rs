//! Tests of texts.

use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::heap::Memory;

fn config() -> ProptestConfig {
    let cases = if cfg!(miri) { 8 } else { 2000 };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn heap() -> Heap {
    Heap::new(Memory::new(1 << 30, None))
}

fn short() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0u8..4, 0..20)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn operations_mean_what_they_mean_for_byte_strings(a in short(), b in short(), from in -2i64..22, n in -2i64..22) {
        let mut heap = heap();
        // SAFETY: every text is dropped once, at the end.
        unsafe {
            let (x, y) = (make(&mut heap, &a).unwrap(), make(&mut heap, &b).unwrap());
            prop_assert_eq!(compare(Caller::HASTY, x, y), a.cmp(&b));
            let both = concat(Caller::HASTY, &raw mut heap, x, y).unwrap();
            prop_assert_eq!(bytes(both), [&a[..], &b[..]].concat());

            let expected = usize::try_from(from).ok().and_then(|from| a.get(from..));
            let found = expected.map(|rest| {
                (0..=rest.len()).find(|&i| rest[i..].starts_with(&b)).map_or(-1, |i| from + i as i64)
            });
            prop_assert_eq!(find(Caller::HASTY, x, y, from), found.ok_or(Fault::IndexOutOfBounds));

            let expected = expected.and_then(|rest| rest.get(..usize::try_from(n).ok()?));
            match slice(Caller::HASTY, &raw mut heap, x, from, n) {
                Ok(part) => {
                    prop_assert_eq!(Some(bytes(part)), expected);
                    drop(&mut heap, part);
                }
                Err(fault) => prop_assert_eq!((fault, expected), (Fault::IndexOutOfBounds, None)),
            }
            for text in [x, y, both] {
                drop(&mut heap, text);
            }
        }
        prop_assert_eq!(heap.live(), 0);
    }

    #[test]
    fn several_at_once_are_what_they_are_one_by_one(parts in prop::array::uniform4(short())) {
        let mut heap = heap();
        // SAFETY: every text is dropped once, at the end.
        unsafe {
            let texts = parts.each_ref().map(|part| make(&mut heap, part).unwrap());
            let all = concat_all(Caller::HASTY, &raw mut heap, texts).unwrap();
            prop_assert_eq!(bytes(all), parts.concat());
            for text in texts {
                drop(&mut heap, text);
            }
            prop_assert_eq!(bytes(all), parts.concat());
            drop(&mut heap, all);
            prop_assert_eq!(heap.live(), 0);
        }
    }

    #[test]
    fn appending_is_what_concatenating_is(
        start in short(),
        steps in prop::collection::vec((0usize..5, prop::collection::vec(any::<u8>(), 0..90)), 0..20),
    ) {
        let mut heap = heap();
        // SAFETY: every text is dropped once, at the end.
        unsafe {
            let mut cell = make(&mut heap, &start).unwrap();
            let mut others = Vec::new();
            let mut expected = start;
            for (how, more) in steps {
                match how {
                    0 => {
                        append(Caller::HASTY, &raw mut heap, &raw mut cell, cell).unwrap();
                        expected.extend_from_within(..);
                    }
                    1 => {
                        append_byte(Caller::HASTY, &raw mut heap, &raw mut cell, how as u8).unwrap();
                        expected.push(how as u8);
                    }
                    2 => others.push((copy(&heap, cell), expected.clone())),
                    _ => {
                        let text = make(&mut heap, &more).unwrap();
                        append(Caller::HASTY, &raw mut heap, &raw mut cell, text).unwrap();
                        drop(&mut heap, text);
                        expected.extend(more);
                    }
                }
                prop_assert_eq!(bytes(cell), &expected);
                expected.truncate(4096);
                if bytes(cell).len() > 4096 {
                    let shorter = slice(Caller::HASTY, &raw mut heap, cell, 0, 4096).unwrap();
                    drop(&mut heap, core::mem::replace(&mut cell, shorter));
                }
            }
            others.push((cell, expected));
            for (text, expected) in others {
                prop_assert_eq!(bytes(text), expected);
                drop(&mut heap, text);
            }
        }
        prop_assert_eq!(heap.live(), 0);
    }

    #[test]
    fn holders_never_see_each_other_s_changes(
        start in short(),
        steps in prop::collection::vec((0usize..4, 0usize..4, 0i64..20, any::<u8>(), any::<bool>()), 0..40),
        shared: bool,
    ) {
        let mut heap = heap();
        if shared {
            heap.memory().depart();
        }
        let mut cells = [null_mut(); 4];
        let mut model: [Vec<u8>; 4] = Default::default();
        // SAFETY: a cell always holds its text, and is dropped when it gets another.
        unsafe {
            cells[0] = make(&mut heap, &start).unwrap();
            model[0] = start;
            for (to, from, index, byte, assign) in steps {
                if assign {
                    let text = copy(&heap, cells[from]);
                    drop(&mut heap, cells[to]);
                    cells[to] = text;
                    model[to] = model[from].clone();
                } else {
                    let done = set(Caller::HASTY, &raw mut heap, &mut cells[to], index, byte);
                    let place = model[to].get_mut(index as usize).map(|place| *place = byte);
                    prop_assert_eq!(done, place.ok_or(Fault::IndexOutOfBounds));
                }
                for (&cell, model) in cells.iter().zip(&model) {
                    prop_assert_eq!(bytes(cell), &model[..]);
                }
            }
            for cell in cells {
                drop(&mut heap, cell);
            }
        }
        prop_assert_eq!(heap.live(), 0);
    }
}

#[test]
fn literals_are_never_changed_nor_freed() {
    #[repr(C)]
    struct Literal(TextHead, [u8; 3]);
    let mut literal = Literal(TextHead { count: -1, length: 3 }, *b"abc");
    let address = (&raw mut literal).cast::<TextHead>();
    let mut heap = heap();
    // SAFETY: the literal stays alive, and is only read.
    unsafe {
        let mut cell = copy(&heap, address);
        drop(&mut heap, cell);
        drop(&mut heap, cell);
        set(Caller::HASTY, &raw mut heap, &mut cell, 1, b'x').unwrap();
        assert_eq!((bytes(cell), bytes(address)), (&b"axc"[..], &b"abc"[..]));
        drop(&mut heap, cell);
    }
    assert_eq!((heap.live(), literal.0.count, literal.1), (0, -1, *b"abc"));
}

#[test]
fn a_new_text_is_of_that_many_zeros() {
    let mut heap = heap();
    for length in [0, 1, 5000] {
        // SAFETY: dropped once.
        unsafe {
            let text = make_zeroed(&mut heap, length).unwrap();
            assert!(bytes(text).len() == length && bytes(text).iter().all(|&byte| byte == 0));
            drop(&mut heap, text);
        }
    }
}

#[test]
fn texts_that_memory_cannot_hold_are_refused() {
    let mut heap = Heap::new(Memory::new(100_000, None));
    assert_eq!(make_zeroed(&mut heap, 100_000), Err(Fault::OutOfMemory));
    assert_eq!(make_zeroed(&mut heap, usize::MAX - 8), Err(Fault::OutOfMemory));
    assert_eq!(heap.live(), 0);
}

#[test]
fn a_text_that_grows_moves_seldom() {
    let mut heap = heap();
    let pieces = if cfg!(miri) { 300 } else { 100_000 };
    let (mut cell, mut moves) = (null_mut(), 0);
    // SAFETY: the text is dropped once, at the end.
    unsafe {
        for _ in 0..pieces {
            let before = cell;
            append_byte(Caller::HASTY, &raw mut heap, &raw mut cell, b'x').unwrap();
            moves += usize::from(cell != before);
        }
        assert_eq!(bytes(cell).len(), pieces);
        drop(&mut heap, cell);
    }
    assert!(moves < 60, "{moves}");
    assert_eq!(heap.live(), 0);
}
