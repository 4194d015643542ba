//! Vectors that get the room which others had before.

use alloc::vec::Vec;
use core::mem::take;

/// A vector without anything in it, that has room for what another had.
pub(super) fn emptied<T>(used: &mut Vec<T>) -> Vec<T> {
    let mut vector = take(used);
    vector.clear();
    vector
}

/// The same, filled with so many.
pub(super) fn filled<T: Clone>(used: &mut Vec<T>, count: usize, with: T) -> Vec<T> {
    let mut vector = emptied(used);
    vector.resize(count, with);
    vector
}
