//! Reuses the allocations of earlier vectors.

use alloc::vec::Vec;
use core::mem::take;

/// An empty vector with the allocation of another.
pub(super) fn emptied<T>(used: &mut Vec<T>) -> Vec<T> {
    let mut vector = take(used);
    vector.clear();
    vector
}

/// A vector of `count` equal elements with the allocation of another.
pub(super) fn filled<T: Clone>(used: &mut Vec<T>, count: usize, with: T) -> Vec<T> {
    let mut vector = emptied(used);
    vector.resize(count, with);
    vector
}
