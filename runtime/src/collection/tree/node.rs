//! A node of the tree: a block with a few keys, and a cell for each: in a leaf the element, above it the child with the
//! keys from this one on. The key of the first child is not used: everything below the second one's is there.

use core::cmp::Ordering;
use core::ptr::{self, NonNull};
use core::slice;

use crate::collection::keys::{Key, Keys};
use crate::heap::Heap;
use crate::long::Caller;

/// The address of a node: a live block. Its first `count` entries are initialised, except for the first key of an inner
/// node; these keys hold their texts.
///
/// It can be copied, and doesn't prove that no copy has been freed or changed: see [`Node::free`].
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
    pub fn make(heap: &mut Heap, keys: Keys, level: usize, capacity: usize) -> Option<Node> {
        let head = NonNull::new(heap.allocate(bytes(keys, capacity)) as *mut Head)?;
        // SAFETY: the block is fresh, and has room for the head.
        unsafe { head.write(Head { count: 0, capacity: capacity as u16, level: level as u16, mark: 0 }) };
        Some(Node(head))
    }

    /// Frees the block alone.
    ///
    /// # Safety
    /// No copy of the node is used any more, and its entries have gone elsewhere.
    pub unsafe fn free(self, heap: &mut Heap, keys: Keys) {
        // SAFETY: the block is of that size.
        unsafe { heap.free(self.0.as_ptr().cast(), bytes(keys, self.capacity())) };
    }

    #[inline]
    pub fn count(self) -> usize {
        // SAFETY: a node is live.
        usize::from(unsafe { (*self.0.as_ptr()).count })
    }

    /// Sets the number of entries.
    ///
    /// # Safety
    /// The first `count` entries are initialised.
    pub unsafe fn set_count(self, count: usize) {
        // SAFETY: a node is live.
        unsafe { (*self.0.as_ptr()).count = count as u16 };
    }

    pub fn capacity(self) -> usize {
        // SAFETY: a node is live.
        usize::from(unsafe { (*self.0.as_ptr()).capacity })
    }

    pub fn is_full(self) -> bool {
        // SAFETY: a node is live.
        unsafe { (*self.0.as_ptr()).count == (*self.0.as_ptr()).capacity }
    }

    #[inline]
    pub fn is_leaf(self) -> bool {
        // SAFETY: a node is live.
        unsafe { (*self.0.as_ptr()).level == 0 }
    }

    pub fn mark(self) -> usize {
        // SAFETY: a node is live.
        usize::from(unsafe { (*self.0.as_ptr()).mark })
    }

    pub fn set_mark(self, index: usize) {
        // SAFETY: a node is live.
        unsafe { (*self.0.as_ptr()).mark = index as u16 };
    }

    /// Where the words of a key are.
    ///
    /// # Safety
    /// `index` is within the capacity, or the first one beyond.
    #[inline]
    pub unsafe fn words(self, keys: Keys, index: usize) -> *mut u64 {
        // SAFETY: the keys follow the head.
        unsafe { self.0.as_ptr().add(1).cast::<u64>().add(index * keys.width()) }
    }

    /// A key.
    ///
    /// # Safety
    /// There is one with that index. During `'a` it stays where it is, and holds its texts.
    #[inline]
    pub unsafe fn key<'a>(self, keys: Keys, index: usize) -> Key<'a> {
        // SAFETY: the key is initialised.
        unsafe { Key::new(self.words(keys, index)) }
    }

    /// Where the cell of an entry is.
    ///
    /// # Safety
    /// `index` is within the capacity, or the first one beyond.
    #[inline]
    pub unsafe fn cell(self, keys: Keys, index: usize) -> *mut u64 {
        // SAFETY: the cells follow the keys.
        unsafe { self.0.as_ptr().add(1).cast::<u64>().add(self.capacity() * keys.width() + index) }
    }

    /// A child.
    ///
    /// # Safety
    /// This is no leaf, and has an entry with that index.
    #[inline]
    pub unsafe fn child(self, keys: Keys, index: usize) -> Node {
        // SAFETY: the cell is initialised, and holds a child.
        unsafe { *self.cell(keys, index).cast() }
    }

    /// Writes an entry. It holds what the key and the content did.
    ///
    /// # Safety
    /// `index` is within the capacity; the content is an element in a leaf, and a child in an inner node.
    pub unsafe fn put<T>(self, keys: Keys, index: usize, key: Key, content: T) {
        const { assert!(size_of::<T>() == 8) }
        // SAFETY: there is room for the entry, and the key lies elsewhere.
        unsafe {
            ptr::copy_nonoverlapping(key.as_ptr(), self.words(keys, index), keys.width());
            self.cell(keys, index).cast::<T>().write(content);
        }
    }

    /// Writes the first entry, which needs no key.
    ///
    /// # Safety
    /// This is no leaf.
    pub unsafe fn put_first_child(self, keys: Keys, child: Node) {
        // SAFETY: there is room for an entry.
        unsafe { self.cell(keys, 0).cast::<Node>().write(child) };
    }

    /// How many of the entries from an index on have a key below `key`, or equal to it if `including` says so. An inner
    /// node is searched from the second one on.
    #[inline]
    fn count_below(self, by: Caller, keys: Keys, from: usize, key: Key, including: Equal) -> usize {
        let count = self.count() - from;
        if keys.is_number() {
            // SAFETY: all of these keys are initialised, each a number.
            let all = unsafe { slice::from_raw_parts(self.words(keys, from).cast::<i64>(), count) };
            let key = key.number();
            return match including {
                Equal::Counts => all.partition_point(|&other| other <= key),
                Equal::CountsNot => all.partition_point(|&other| other < key),
            };
        }
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = (low + high) / 2;
            // SAFETY: there is a key with that index; a search changes no node.
            let order = keys.compare_in_parts(by, unsafe { self.key(keys, from + middle) }, key);
            if order == Ordering::Less || order == Ordering::Equal && including == Equal::Counts {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The index of the child where a key belongs.
    ///
    /// # Safety
    /// This is no leaf, so that it has a child, and its keys from the second on are initialised.
    #[inline]
    pub unsafe fn child_for(self, by: Caller, keys: Keys, key: Key) -> usize {
        self.count_below(by, keys, 1, key, Equal::Counts)
    }

    /// Where in a leaf a key is, or else would be.
    #[inline]
    pub fn position(self, by: Caller, keys: Keys, key: Key) -> Result<usize, usize> {
        let index = self.count_below(by, keys, 0, key, Equal::CountsNot);
        // SAFETY: there is a key with that index; a search changes no node.
        if index < self.count() && keys.equal_in_parts(by, unsafe { self.key(keys, index) }, key) {
            Ok(index)
        } else {
            Err(index)
        }
    }

    /// The index of a leaf's first key above `key`.
    pub fn above(self, by: Caller, keys: Keys, key: Key) -> usize {
        self.count_below(by, keys, 0, key, Equal::Counts)
    }

    /// Makes room for one entry.
    ///
    /// # Safety
    /// The node isn't full, and `index` is at most its count. An entry is put there next.
    pub unsafe fn open(self, keys: Keys, index: usize) {
        let count = self.count();
        // SAFETY: there is room for one more; the caller initialises it next.
        unsafe {
            self.set_count(count + 1);
            move_entries(keys, self, index, self, index + 1, count - index);
        }
    }

    /// Forgets an entry.
    ///
    /// # Safety
    /// There is one with that index, and what it held has gone elsewhere.
    pub unsafe fn close(self, keys: Keys, index: usize) {
        let count = self.count();
        // SAFETY: the entries behind it move to its place.
        unsafe {
            move_entries(keys, self, index + 1, self, index, count - index - 1);
            self.set_count(count - 1);
        }
    }

    /// Moves all entries from an index on to the end of another node.
    ///
    /// # Safety
    /// `from` is at most the count, and `to` is of the same level and has room for them.
    pub unsafe fn give(self, keys: Keys, from: usize, to: Node) {
        let (moved, at) = (self.count() - from, to.count());
        // SAFETY: there is room for them, and no entry stays in two places.
        unsafe {
            move_entries(keys, self, from, to, at, moved);
            to.set_count(at + moved);
            self.set_count(from);
        }
    }
}

/// Whether a search counts a key that is the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Equal {
    Counts,
    CountsNot,
}

/// Moves entries, as they are.
///
/// # Safety
/// There are `count` in `from`, beginning with `first`, and there is room for so many in `to`, beginning with `at`.
unsafe fn move_entries(keys: Keys, from: Node, first: usize, to: Node, at: usize, count: usize) {
    // SAFETY: keys and cells lie within the nodes.
    unsafe {
        ptr::copy(from.words(keys, first), to.words(keys, at), count * keys.width());
        ptr::copy(from.cell(keys, first), to.cell(keys, at), count);
    }
}

fn bytes(keys: Keys, capacity: usize) -> usize {
    size_of::<Head>() + capacity * (keys.width() + 1) * 8
}
