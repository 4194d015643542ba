//! Turns a hash table into a tree, in small steps: its entries are sorted in runs, and these are merged into the tree.
//! Until that is done the table is as it was, and may be searched.

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::{ControlFlow, Range};

use super::hash::Hash;
use super::keys::{Key, Keys};
use super::tree::Tree;
use crate::heap::Heap;

/// A hash table that is being sorted.
pub struct Sorting {
    /// Those of the table, which stay where they are: see [`Sorting::new`].
    entries: Vec<(Key<'static>, *mut u64)>,
    /// How many of them are in sorted runs.
    sorted: usize,
    /// What is left of the runs. As soon as all entries are in runs, this is a heap by the first key of each.
    runs: Vec<Range<usize>>,
    /// The entries that have been merged.
    tree: Tree,
}

/// How far it is.
pub enum Progress {
    /// There is more to do.
    More,
    /// All elements are in the tree.
    Done,
    /// There is no memory for the tree.
    NoMemory,
}

/// So many entries are a run.
const RUN: usize = 1 << 10;
/// So many are merged at once.
const MERGED: usize = 1 << 8;

impl Sorting {
    /// Begins. `tree` is empty.
    ///
    /// # Safety
    /// As long as [`Sorting::go_on`] is called, the table stays as it is. When that has answered that all is done the
    /// table is freed, and what its entries hold goes over to the tree; else the tree is.
    pub unsafe fn new(hash: &Hash, keys: Keys, tree: Tree) -> Sorting {
        let mut entries = Vec::with_capacity(hash.count());
        let _ = hash.visit::<()>(keys, &mut |key, cell| {
            // SAFETY: the table stays as it is as long as it is sorted.
            entries.push((unsafe { Key::new(key.as_ptr()) }, cell));
            ControlFlow::Continue(())
        });
        Sorting { entries, sorted: 0, runs: Vec::new(), tree }
    }

    /// Does a part of it.
    pub fn go_on(&mut self, heap: &mut Heap, keys: Keys) -> Progress {
        if self.sorted < self.entries.len() {
            self.sort_run(keys);
            return Progress::More;
        }
        for _ in 0..MERGED {
            let Some(first) = self.runs.first_mut() else { return Progress::Done };
            let (key, cell) = self.entries[first.start];
            // SAFETY: the table is as it was, and in the end only one of table and tree holds the key and the element.
            unsafe {
                let Some(to) = self.tree.append(heap, keys, key) else { return Progress::NoMemory };
                *to = *cell;
            }
            first.start += 1;
            if first.start == first.end {
                self.runs.swap_remove(0);
            }
            self.sink(keys, 0);
        }
        Progress::More
    }

    /// The tree, as far as it has got.
    pub fn finish(self) -> Tree {
        self.tree
    }

    fn sort_run(&mut self, keys: Keys) {
        let run = self.sorted..self.entries.len().min(self.sorted + RUN);
        let entries = &mut self.entries[run.clone()];
        if keys.is_number() {
            entries.sort_unstable_by_key(|(key, _)| key.number());
        } else {
            entries.sort_unstable_by(|&(a, _), &(b, _)| keys.compare(a, b));
        }
        self.sorted = run.end;
        self.runs.push(run);
        if self.sorted == self.entries.len() {
            (0..self.runs.len() / 2).rev().for_each(|index| self.sink(keys, index));
        }
    }

    /// Restores the heap where a run may begin with a greater key than the two behind it.
    fn sink(&mut self, keys: Keys, mut index: usize) {
        loop {
            let mut least = index;
            for behind in [2 * index + 1, 2 * index + 2] {
                if behind < self.runs.len() && self.is_before(keys, behind, least) {
                    least = behind;
                }
            }
            if least == index {
                return;
            }
            self.runs.swap(index, least);
            index = least;
        }
    }

    fn is_before(&self, keys: Keys, a: usize, b: usize) -> bool {
        let (a, b) = (self.entries[self.runs[a].start].0, self.entries[self.runs[b].start].0);
        if keys.is_number() { a.number() < b.number() } else { keys.compare(a, b) == Ordering::Less }
    }
}
