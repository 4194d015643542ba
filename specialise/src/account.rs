//! Accounts for the memory that a specialisation takes. Data that grows with the size of the program, the number of
//! paths, or the facts on each path is counted; everything else is small in comparison.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Deref;

thread_local! {
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

/// The bytes of all counted data in this thread at present.
pub(crate) fn bytes() -> u64 {
    BYTES.get()
}

/// A memory limit in words, for messages.
pub(crate) fn budget(bytes: u64) -> String {
    format!("the budget of {} MB", bytes / 1_000_000)
}

/// Memory that is taken in small pieces, up to a limit on all counted data, and given back as a whole. A `Room` stays
/// in its thread.
#[derive(Debug)]
pub(crate) struct Room {
    limit: u64,
    taken: Cell<u64>,
}

impl Room {
    /// A `Room` for what a limit leaves.
    pub fn within(limit: u64) -> Room {
        Room { limit, taken: Cell::new(0) }
    }

    /// Takes some bytes, or fails if the limit does not leave so many.
    pub fn take(&self, bytes: u64) -> Result<(), String> {
        let all = BYTES.get().saturating_add(bytes);
        if all > self.limit {
            return Err(format!("{} is not enough", budget(self.limit)));
        }
        BYTES.set(all);
        self.taken.set(self.taken.get() + bytes);
        Ok(())
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        BYTES.set(BYTES.get() - self.taken.get());
    }
}

/// Data whose size in memory is known.
pub(crate) trait Bytes {
    fn bytes(&self) -> u64;
}

/// Counted data. It stays in its thread.
pub(crate) struct Counted<T: Bytes> {
    inner: T,
    bytes: u64,
}

impl<T: Bytes> Counted<T> {
    /// The size of the value itself, and the overhead of an allocation that contains it.
    const FIXED: u64 = size_of::<Counted<T>>() as u64 + OVERHEAD;

    pub fn new(inner: T) -> Counted<T> {
        let bytes = inner.bytes();
        BYTES.set(BYTES.get() + Self::FIXED + bytes);
        Counted { inner, bytes }
    }

    /// The contents, for changes in place that keep the size.
    pub fn elements(&mut self) -> &mut T {
        &mut self.inner
    }

    /// Changes the contents, which may grow or shrink.
    pub fn edit<R>(&mut self, change: impl FnOnce(&mut T) -> R) -> R {
        let result = change(&mut self.inner);
        let bytes = self.inner.bytes();
        BYTES.set((BYTES.get() + bytes) - self.bytes);
        self.bytes = bytes;
        result
    }
}

impl<T: Bytes> Drop for Counted<T> {
    fn drop(&mut self) {
        BYTES.set(BYTES.get() - Self::FIXED - self.bytes);
    }
}

impl<T: Bytes + Clone> Clone for Counted<T> {
    fn clone(&self) -> Counted<T> {
        Counted::new(self.inner.clone())
    }
}

impl<T: Bytes> Deref for Counted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T: Bytes + Default> Default for Counted<T> {
    fn default() -> Counted<T> {
        Counted::new(T::default())
    }
}

impl<T: Bytes + PartialEq> PartialEq for Counted<T> {
    fn eq(&self, other: &Counted<T>) -> bool {
        self.inner == other.inner
    }
}

impl<T: Bytes + fmt::Debug> fmt::Debug for Counted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

/// The overhead of an allocation in bytes.
const OVERHEAD: u64 = 16;

/// The bytes of a tree with this many elements, whose nodes are two thirds full on average.
fn tree<T>(elements: usize) -> u64 {
    let bytes = elements * (size_of::<T>() + size_of::<usize>()) * 3 / 2;
    if elements == 0 { 0 } else { bytes as u64 + OVERHEAD }
}

impl<K, V> Bytes for BTreeMap<K, V> {
    fn bytes(&self) -> u64 {
        tree::<(K, V)>(self.len())
    }
}

impl<T> Bytes for BTreeSet<T> {
    fn bytes(&self) -> u64 {
        tree::<T>(self.len())
    }
}

impl<T> Bytes for Vec<T> {
    fn bytes(&self) -> u64 {
        (self.capacity() * size_of::<T>()) as u64 + OVERHEAD
    }
}
