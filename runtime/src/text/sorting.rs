//! Sorts a sequence by keys: a stable merge sort of the places, in parts between which other processes run.

use core::cmp::Ordering;
use core::slice;

use super::compare;
use super::holding::words;
use super::sequences::{count, pick};
use crate::heap::Heap;
use crate::layout::{Fault, TextHead};
use crate::long::Caller;

/// What keys are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// INTEGER, CHARACTER or BOOLEAN.
    Numbers = 0,
    /// REAL. What is no number comes last.
    Reals = 1,
    /// TEXT.
    Texts = 2,
}

impl Keys {
    /// The kind that generated code names by its number.
    pub fn of(number: u32) -> Keys {
        match number {
            0 => Keys::Numbers,
            1 => Keys::Reals,
            _ => Keys::Texts,
        }
    }

    /// Whether `a` comes after `b`.
    ///
    /// # Safety
    /// Texts are null or live.
    unsafe fn is_after(self, by: Caller, a: u64, b: u64) -> bool {
        match self {
            Keys::Numbers => a as i64 > b as i64,
            Keys::Reals => {
                let (a, b) = (f64::from_bits(a), f64::from_bits(b));
                a > b || a.is_nan() && !b.is_nan()
            }
            // SAFETY: both are texts.
            Keys::Texts => unsafe {
                compare(by, a as *const TextHead, b as *const TextHead) == Ordering::Greater
            },
        }
    }
}

/// So many places are merged at once.
const MERGED_AT_ONCE: usize = 1 << 12;

/// The elements of a sequence in the order of their keys, which are as many; those with equal keys stay in their order.
///
/// # Safety
/// `sequence` and `keys` are null or live sequences, the latter of such keys; `heap` is that of the worker of this
/// thread.
pub unsafe fn sorted(
    by: Caller,
    heap: *mut Heap,
    sequence: *mut TextHead,
    keys: *mut TextHead,
    kind: Keys,
) -> Result<*mut TextHead, Fault> {
    // SAFETY: both are live. The two lists of places are this call's alone until they are freed.
    unsafe {
        let length = count(keys);
        if count(sequence) != length {
            return Err(Fault::InvalidArgument);
        }
        if length < 2 {
            return Ok(super::copy(&*heap, sequence));
        }
        let keys = slice::from_raw_parts(words(keys), length);
        let bytes = 16 * length;
        let block = (*heap).allocate_zeroed(bytes).cast::<u64>();
        if block.is_null() {
            return Err(Fault::OutOfMemory);
        }
        let (places, spare) = slice::from_raw_parts_mut(block, 2 * length).split_at_mut(length);
        let order =
            merge_sort(places, spare, by, |a, b| kind.is_after(by, keys[a as usize], keys[b as usize]));
        let result = pick(by, heap, sequence, order);
        (*heap).free_in_parts(block.cast(), bytes);
        result
    }
}

/// Sorts the places `0..`, bottom up; answers which of the two lists has them.
fn merge_sort<'a>(
    mut from: &'a mut [u64],
    mut to: &'a mut [u64],
    by: Caller,
    is_after: impl Fn(u64, u64) -> bool,
) -> &'a [u64] {
    for (place, index) in from.iter_mut().zip(0..) {
        *place = index;
    }
    let mut run = 1;
    while run < from.len() {
        for start in (0..from.len()).step_by(2 * run) {
            let middle = from.len().min(start + run);
            let end = from.len().min(middle + run);
            merge(&from[start..middle], &from[middle..end], &mut to[start..end], by, &is_after);
        }
        (from, to) = (to, from);
        run *= 2;
    }
    from
}

/// Merges two sorted runs. Of equal ones those of the first come first.
fn merge(a: &[u64], b: &[u64], to: &mut [u64], by: Caller, is_after: &impl Fn(u64, u64) -> bool) {
    let (mut first, mut second) = (0, 0);
    for (done, place) in to.iter_mut().enumerate() {
        if done % MERGED_AT_ONCE == MERGED_AT_ONCE - 1 {
            by.pause();
        }
        let takes_second = match (a.get(first), b.get(second)) {
            (Some(&a), Some(&b)) => is_after(a, b),
            (None, _) => true,
            (_, None) => false,
        };
        if takes_second {
            *place = b[second];
            second += 1;
        } else {
            *place = a[first];
            first += 1;
        }
    }
}
