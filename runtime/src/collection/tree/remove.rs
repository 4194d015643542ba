//! Removing from the tree.

use super::node::Node;
use super::{LEAST, Path, Place, Tree};
use crate::collection::keys::{Key, Keys};
use crate::heap::Heap;
use crate::long::Caller;

impl Tree {
    /// Removes the element with a key and answers what it held. An empty tree is left to the caller, who frees it.
    pub fn remove(&mut self, heap: &mut Heap, keys: Keys, key: Key) -> Option<u64> {
        let place = self.place(Caller::HASTY, keys, key);
        // SAFETY: the place was found just now.
        unsafe { self.remove_from(heap, keys, place) }
    }

    /// The same for the element at a place.
    ///
    /// # Safety
    /// The place was found since the tree was changed last.
    #[inline]
    pub unsafe fn remove_from(&mut self, heap: &mut Heap, keys: Keys, place: Place) -> Option<u64> {
        let Place { mut path, leaf, index } = place;
        let index = index.ok()?;
        self.last.set(None);
        // SAFETY: there is an entry with that index, and the path leads to its leaf.
        let word = unsafe {
            let word = *leaf.cell(keys, index);
            keys.drop(heap, leaf.words(keys, index));
            leaf.close(keys, index);
            join_upwards(heap, keys, &mut path);
            word
        };
        self.shrink_root(heap, keys);
        Some(word)
    }

    /// Whether all elements have been removed.
    pub fn is_empty(&self) -> bool {
        self.root.count() == 0
    }

    fn shrink_root(&mut self, heap: &mut Heap, keys: Keys) {
        while !self.root.is_leaf() && self.root.count() == 1 {
            // SAFETY: the child that was alone takes the root's place, which isn't used any more.
            unsafe {
                let child = self.root.child(keys, 0);
                self.root.free(heap, keys);
                self.root = child;
            }
        }
        let capacity = self.root.capacity();
        if self.root.is_leaf() && capacity > LEAST && self.root.count() <= capacity / 4 {
            // If there is no memory for a smaller leaf, the large one stays.
            // SAFETY: the root is a leaf, with less entries than that.
            let _ = unsafe { self.resize_leaf(heap, keys, capacity / 2) };
        }
    }
}

/// Joins nodes that have become too small with a neighbour, from the leaf up.
///
/// # Safety
/// The path leads to a leaf of the tree. It isn't used any more, nor are places.
unsafe fn join_upwards(heap: &mut Heap, keys: Keys, path: &mut Path) {
    let half = Node::full(keys) / 2;
    while let Some((parent, index)) = path.pop() {
        // SAFETY: the parent has a child with that index; the indices of its neighbours are compared with its count.
        unsafe {
            let node = parent.child(keys, index);
            if node.count() >= half {
                return;
            }
            if index > 0 && fit_together(parent, keys, index) {
                join(heap, keys, parent, index);
            } else if index + 1 < parent.count() && fit_together(parent, keys, index + 1) {
                join(heap, keys, parent, index + 1);
            } else if node.count() == 0 {
                // It fits together with any neighbour, so it was an only child.
                node.free(heap, keys);
                parent.set_count(0);
            } else {
                return;
            }
        }
    }
}

/// Whether a child fits into the one before it.
///
/// # Safety
/// `parent` has both.
unsafe fn fit_together(parent: Node, keys: Keys, index: usize) -> bool {
    // SAFETY: the caller promises that `parent` has both children.
    unsafe { parent.child(keys, index - 1).count() + parent.child(keys, index).count() <= Node::full(keys) }
}

/// Moves all entries of a child into the one before it.
///
/// # Safety
/// `parent` has both, they fit together, and the child isn't used any more.
unsafe fn join(heap: &mut Heap, keys: Keys, parent: Node, index: usize) {
    // SAFETY: both are children, and the separator between them holds its texts. It is dropped, or becomes the key of
    // the first entry of the right one, which had none.
    unsafe {
        let (left, right) = (parent.child(keys, index - 1), parent.child(keys, index));
        let separator = parent.words(keys, index);
        if left.is_leaf() || left.count() == 0 || right.count() == 0 {
            keys.drop(heap, separator);
        } else {
            core::ptr::copy_nonoverlapping(separator, right.words(keys, 0), keys.width());
        }
        right.give(keys, 0, left);
        right.free(heap, keys);
        parent.close(keys, index);
    }
}
