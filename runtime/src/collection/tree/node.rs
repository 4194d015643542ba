//! A node of the tree: a block with a few keys, and a cell for each: in a leaf the element, above it the child with the
//! keys from this one on. The key of the first child is not used: everything below the second one's is there.
//!
//! # Why this is sound
//! A node is a live block, made here with the same [`Keys`] that are passed to its methods; entries below `count` are
//! initialised, except for the first key of an inner node.
#![allow(unsafe_op_in_unsafe_fn)]

use core::cmp::Ordering;
use core::ptr::{self, NonNull};
use core::slice;

use crate::collection::keys::{Key, Keys};
use crate::heap::Heap;
use crate::long::Caller;

/// The address of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Node(NonNull<Head>);

#[repr(C, align(8))]
struct Head {
    count: u16,
    capacity: u16,
    /// 0: a leaf.
    level: u16,
    /// An index that the tree remembers.
    mark: u16,
}

/// Bytes that a full node should have: the largest small block.
const BYTES: usize = 1024;

impl Node {
    /// Entries of a node, unless it is a leaf alone, which may be smaller.
    pub fn full(keys: Keys) -> usize {
        ((BYTES - size_of::<Head>()) / (8 * (keys.width() + 1))).max(8)
    }

    /// An empty node. `None`: there is no memory.
    pub unsafe fn make(heap: &mut Heap, keys: Keys, level: usize, capacity: usize) -> Option<Node> {
        let head = NonNull::new(heap.allocate(bytes(keys, capacity)) as *mut Head)?;
        head.write(Head { count: 0, capacity: capacity as u16, level: level as u16, mark: 0 });
        Some(Node(head))
    }

    /// Frees the block alone.
    pub unsafe fn free(self, heap: &mut Heap, keys: Keys) {
        heap.free(self.0.as_ptr().cast(), bytes(keys, self.capacity()));
    }

    #[inline]
    pub unsafe fn count(self) -> usize {
        usize::from((*self.0.as_ptr()).count)
    }

    pub unsafe fn set_count(self, count: usize) {
        (*self.0.as_ptr()).count = count as u16;
    }

    pub unsafe fn capacity(self) -> usize {
        usize::from((*self.0.as_ptr()).capacity)
    }

    pub unsafe fn is_full(self) -> bool {
        (*self.0.as_ptr()).count == (*self.0.as_ptr()).capacity
    }

    #[inline]
    pub unsafe fn is_leaf(self) -> bool {
        (*self.0.as_ptr()).level == 0
    }

    pub unsafe fn mark(self) -> usize {
        usize::from((*self.0.as_ptr()).mark)
    }

    pub unsafe fn set_mark(self, index: usize) {
        (*self.0.as_ptr()).mark = index as u16;
    }

    #[inline]
    pub unsafe fn key(self, keys: Keys, index: usize) -> *mut u64 {
        self.0.as_ptr().add(1).cast::<u64>().add(index * keys.width())
    }

    #[inline]
    pub unsafe fn cell(self, keys: Keys, index: usize) -> *mut u64 {
        self.0.as_ptr().add(1).cast::<u64>().add(self.capacity() * keys.width() + index)
    }

    #[inline]
    pub unsafe fn child(self, keys: Keys, index: usize) -> Node {
        *self.cell(keys, index).cast()
    }

    /// Writes an entry.
    pub unsafe fn put<T>(self, keys: Keys, index: usize, key: Key, content: T) {
        const { assert!(size_of::<T>() == 8) }
        ptr::copy_nonoverlapping(key, self.key(keys, index), keys.width());
        self.cell(keys, index).cast::<T>().write(content);
    }

    /// Writes the first entry of an inner node.
    pub unsafe fn put_first_child(self, keys: Keys, child: Node) {
        self.cell(keys, 0).cast::<Node>().write(child);
    }

    /// Of the first entries the number of those whose key is below `key`, or the same if `including`.
    #[inline]
    unsafe fn count_below(self, by: Caller, keys: Keys, from: usize, key: Key, including: Equal) -> usize {
        let count = self.count() - from;
        if keys.is_number() {
            let all = slice::from_raw_parts(self.key(keys, from).cast::<i64>(), count);
            let key = *key as i64;
            return match including {
                Equal::Counts => all.partition_point(|&other| other <= key),
                Equal::CountsNot => all.partition_point(|&other| other < key),
            };
        }
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = (low + high) / 2;
            let order = keys.compare_in_parts(by, self.key(keys, from + middle), key);
            if order == Ordering::Less || order == Ordering::Equal && including == Equal::Counts {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The index of the child where a key belongs.
    #[inline]
    pub unsafe fn child_for(self, by: Caller, keys: Keys, key: Key) -> usize {
        self.count_below(by, keys, 1, key, Equal::Counts)
    }

    /// Where in a leaf a key is, or else would be.
    #[inline]
    pub unsafe fn position(self, by: Caller, keys: Keys, key: Key) -> Result<usize, usize> {
        let index = self.count_below(by, keys, 0, key, Equal::CountsNot);
        if index < self.count() && keys.equal_in_parts(by, self.key(keys, index), key) {
            Ok(index)
        } else {
            Err(index)
        }
    }

    /// The index of a leaf's first key above `key`.
    pub unsafe fn above(self, by: Caller, keys: Keys, key: Key) -> usize {
        self.count_below(by, keys, 0, key, Equal::Counts)
    }

    /// Makes room for one entry.
    pub unsafe fn open(self, keys: Keys, index: usize) {
        let count = self.count();
        self.set_count(count + 1);
        move_entries(keys, self, index, self, index + 1, count - index);
    }

    /// Forgets an entry.
    pub unsafe fn close(self, keys: Keys, index: usize) {
        let count = self.count();
        move_entries(keys, self, index + 1, self, index, count - index - 1);
        self.set_count(count - 1);
    }

    /// Moves all entries from an index on to the end of another node.
    pub unsafe fn give(self, keys: Keys, from: usize, to: Node) {
        let (moved, at) = (self.count() - from, to.count());
        move_entries(keys, self, from, to, at, moved);
        to.set_count(at + moved);
        self.set_count(from);
    }
}

/// Whether a search counts a key that is the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Equal {
    Counts,
    CountsNot,
}

unsafe fn move_entries(keys: Keys, from: Node, first: usize, to: Node, at: usize, count: usize) {
    ptr::copy(from.key(keys, first), to.key(keys, at), count * keys.width());
    ptr::copy(from.cell(keys, first), to.cell(keys, at), count);
}

fn bytes(keys: Keys, capacity: usize) -> usize {
    size_of::<Head>() + capacity * (keys.width() + 1) * 8
}
