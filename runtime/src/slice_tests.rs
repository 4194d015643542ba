//! Tests of texts that share their bytes with others. Parts are shared from a length of 4 on here.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::heap::Memory;
use crate::layout::TextSlice;
use crate::text::slices::PARTS;

const CELLS: usize = 5;
/// Bytes of a text that is made, about.
const MOST: usize = if cfg!(miri) { 200 } else { 2000 };

fn heap() -> Heap {
    Heap::new(Memory::new(1 << 30, None))
}

/// Whether a text is a slice.
///
/// # Safety
/// `text` is null or live.
unsafe fn is_slice(text: *const TextHead) -> bool {
    // SAFETY: what isn't null is live.
    unsafe { !text.is_null() && (*text).length == 0 }
}

/// Assigns an owned text.
///
/// # Safety
/// `cell` holds null or a live text, and the caller holds `text`, and forgets it.
unsafe fn put(heap: *mut Heap, cell: &mut *mut TextHead, text: *mut TextHead) {
    // SAFETY: the cell holds the old one.
    unsafe { drop(&mut *heap, core::mem::replace(cell, text)) };
}

#[derive(Clone, Debug)]
enum Step {
    Assign(usize, usize),
    Slice(usize, usize, usize, usize),
    Append(usize, usize),
    AppendByte(usize, u8),
    Set(usize, usize, u8),
    Concat(usize, usize, usize),
    Make(usize, Vec<u8>),
}

fn step() -> impl Strategy<Value = Step> {
    let cell = || 0..CELLS;
    prop_oneof![
        (cell(), cell()).prop_map(|(to, from)| Step::Assign(to, from)),
        (cell(), cell(), 0..40usize, 0..100usize).prop_map(|(to, of, from, n)| Step::Slice(to, of, from, n)),
        (cell(), cell(), 0..2usize, 0..100usize).prop_map(|(to, of, from, n)| Step::Slice(to, of, from, n)),
        (cell(), cell()).prop_map(|(to, more)| Step::Append(to, more)),
        (cell(), any::<u8>()).prop_map(|(to, byte)| Step::AppendByte(to, byte)),
        (cell(), 0..80usize, any::<u8>()).prop_map(|(to, index, byte)| Step::Set(to, index, byte)),
        (cell(), cell(), cell()).prop_map(|(to, a, b)| Step::Concat(to, a, b)),
        (cell(), prop::collection::vec(any::<u8>(), 0..90)).prop_map(|(to, bytes)| Step::Make(to, bytes)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if cfg!(miri) { 6 } else { 3000 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn texts_that_share_bytes_are_as_if_they_did_not(steps in prop::collection::vec(step(), 0..60), shared: bool) {
        let mut heap = heap();
        if shared {
            heap.memory().depart();
        }
        let mut cells = [null_mut(); CELLS];
        let mut model: [Vec<u8>; CELLS] = Default::default();
        // SAFETY: a cell always holds its text, and is dropped when it gets another.
        unsafe {
            for step in steps {
                let heap = &raw mut heap;
                match step {
                    Step::Assign(to, from) => {
                        let text = copy(&*heap, cells[from]);
                        put(heap, &mut cells[to], text);
                        model[to] = model[from].clone();
                    }
                    Step::Slice(to, of, from, n) => {
                        let from = from.min(model[of].len());
                        let n = n.min(model[of].len() - from);
                        let part = slice(Caller::HASTY, heap, cells[of], from as i64, n as i64).unwrap();
                        put(heap, &mut cells[to], part);
                        model[to] = model[of][from..from + n].to_vec();
                    }
                    Step::Append(to, more) if model[to].len() + model[more].len() < MOST => {
                        let more_text = cells[more];
                        append(Caller::HASTY, heap, &raw mut cells[to], more_text).unwrap();
                        let more = model[more].clone();
                        model[to].extend(more);
                    }
                    Step::AppendByte(to, byte) => {
                        append_byte(Caller::HASTY, heap, &raw mut cells[to], byte).unwrap();
                        model[to].push(byte);
                    }
                    Step::Set(to, index, byte) => {
                        let done = set(Caller::HASTY, heap, &raw mut cells[to], index as i64, byte);
                        let place = model[to].get_mut(index).map(|place| *place = byte);
                        prop_assert_eq!(done, place.ok_or(Fault::IndexOutOfBounds));
                    }
                    Step::Concat(to, a, b) if model[a].len() + model[b].len() < MOST => {
                        let both = concat(Caller::HASTY, heap, cells[a], cells[b]).unwrap();
                        put(heap, &mut cells[to], both);
                        model[to] = [&model[a][..], &model[b]].concat();
                    }
                    Step::Make(to, bytes) => {
                        put(heap, &mut cells[to], make(&mut *heap, &bytes).unwrap());
                        model[to] = bytes;
                    }
                    Step::Append(..) | Step::Concat(..) => {}
                }
                for (&cell, model) in cells.iter().zip(&model) {
                    prop_assert_eq!(bytes(cell), &model[..]);
                }
            }
            for (a, of_a) in cells.iter().zip(&model) {
                for (b, of_b) in cells.iter().zip(&model) {
                    prop_assert_eq!(compare(Caller::HASTY, *a, *b), of_a.cmp(of_b));
                    prop_assert_eq!(equal(Caller::HASTY, *a, *b), of_a == of_b);
                    let found = (0..=of_a.len()).find(|&i| of_a[i..].starts_with(of_b));
                    let found = found.map_or(-1, |place| place as i64);
                    prop_assert_eq!(find(Caller::HASTY, *a, *b, 0), Ok(found));
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
fn taking_the_rest_again_and_again_costs_no_more_than_the_bytes() {
    let mut heap = heap();
    let length = if cfg!(miri) { 400 } else { 100_000 };
    let all: Vec<u8> = (0..length).map(|place| (place % 251) as u8).collect();
    // SAFETY: the text is dropped once, at the end.
    unsafe {
        let mut rest = make(&mut heap, &all).unwrap();
        let mut copied = 0;
        while bytes(rest).len() > 8 {
            let left = bytes(rest).len() - 1;
            let shorter = slice(Caller::HASTY, &raw mut heap, rest, 1, left as i64).unwrap();
            copied += if is_slice(shorter) { 0 } else { left };
            put(&raw mut heap, &mut rest, shorter);
            assert_eq!(bytes(rest), &all[all.len() - left..]);
        }
        assert!(copied <= all.len() / 2, "{copied}");
        drop(&mut heap, rest);
    }
    assert_eq!(heap.live(), 0);
}

#[test]
fn a_slice_of_a_slice_keeps_only_the_whole() {
    let mut heap = heap();
    // SAFETY: each text is dropped once.
    unsafe {
        let whole = make(&mut heap, &[b'x'; 1000]).unwrap();
        let before = heap.live();
        let part = slice(Caller::HASTY, &raw mut heap, whole, 1, 900).unwrap();
        let of_part = slice(Caller::HASTY, &raw mut heap, part, 1, 800).unwrap();
        assert_eq!(heap.live(), before + 2 * size_of::<TextSlice>());
        drop(&mut heap, whole);
        drop(&mut heap, part);
        assert_eq!(heap.live(), before + size_of::<TextSlice>());
        assert_eq!(bytes(of_part), [b'x'; 800]);
        drop(&mut heap, of_part);
    }
    assert_eq!(heap.live(), 0);
}

#[test]
fn what_is_small_beside_the_whole_is_copied() {
    let mut heap = heap();
    // SAFETY: each text is dropped once.
    unsafe {
        let whole = make(&mut heap, &[b'x'; 1000]).unwrap();
        // The whole's head counts, too.
        for (n, shares) in [(250, false), (260, true)] {
            let part = slice(Caller::HASTY, &raw mut heap, whole, 3, n).unwrap();
            assert_eq!(is_slice(part), shares);
            drop(&mut heap, part);
        }
        drop(&mut heap, whole);
    }
    assert_eq!(heap.live(), 0);
}

#[test]
fn a_text_that_is_cut_and_grows_by_turns_stays_in_its_place() {
    let mut heap = heap();
    let (mut cell, mut places) = (null_mut(), vec![]);
    // SAFETY: the text is dropped once, at the end.
    unsafe {
        for _ in 0..100 {
            append_byte(Caller::HASTY, &raw mut heap, &raw mut cell, b'x').unwrap();
        }
        for _ in 0..20 {
            let less = slice(Caller::HASTY, &raw mut heap, cell, 0, 99).unwrap();
            put(&raw mut heap, &mut cell, less);
            assert!(is_slice(cell));
            append_byte(Caller::HASTY, &raw mut heap, &raw mut cell, b'y').unwrap();
            places.push(cell);
        }
        assert!(places.iter().all(|&place| place == places[0]));
        assert_eq!((bytes(cell)[98], bytes(cell)[99], bytes(cell).len()), (b'x', b'y', 100));
        drop(&mut heap, cell);
    }
    assert_eq!(heap.live(), 0);
}

#[test]
fn a_text_that_is_cut_again_and_again_keeps_no_block_of_another_size() {
    let mut heap = heap();
    let mut cell = null_mut();
    // SAFETY: the text is dropped once, at the end.
    unsafe {
        for _ in 0..MOST {
            append_byte(Caller::HASTY, &raw mut heap, &raw mut cell, b'x').unwrap();
        }
        while bytes(cell).len() > 40 {
            let less = bytes(cell).len() / PARTS + 2;
            let part = slice(Caller::HASTY, &raw mut heap, cell, 0, less as i64).unwrap();
            put(&raw mut heap, &mut cell, part);
            append_byte(Caller::HASTY, &raw mut heap, &raw mut cell, b'y').unwrap();
        }
        assert!(heap.live() < 2 * PARTS * 40, "{} bytes for {}", heap.live(), bytes(cell).len());
        drop(&mut heap, cell);
    }
    assert_eq!(heap.live(), 0);
}
