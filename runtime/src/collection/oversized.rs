//! The elements with oversized keys: one of the key's texts is longer than [`LONGEST_HASHED`]. They have a tree of
//! their own, so that their texts are never hashed, and compared in parts between which other processes run.
//!
//! A search keeps addresses of nodes while other processes run. Nothing here may move then: those may search too, which
//! changes nothing (a tree stays a tree), but none may make or remove elements. To make or remove one itself, a process
//! looks for its place first, while it holds no reference to the heap.
//!
//! [`LONGEST_HASHED`]: super::LONGEST_HASHED

use alloc::boxed::Box;

use super::keys::{Key, Keys};
use super::shape::Shape;
use super::tree::{Place, Tree};
use crate::heap::Heap;
use crate::long::Caller;

/// See the head of this file.
pub struct Oversized {
    tree: Option<Box<Tree>>,
}

impl Oversized {
    /// No elements.
    pub const EMPTY: Oversized = Oversized { tree: None };

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.tree.is_none()
    }

    /// The element with a key.
    pub fn find(&self, by: Caller, keys: Keys, key: Key) -> Option<*mut u64> {
        self.tree.as_ref()?.find_in_parts(by, keys, key)
    }

    /// Where it is, or would be. `None`: there are no elements.
    pub fn place(&self, by: Caller, keys: Keys, key: Key) -> Option<Place> {
        Some(self.tree.as_ref()?.place(by, keys, key))
    }

    /// The element with a key, made if it isn't there. `None`: there is no memory.
    ///
    /// # Safety
    /// `place` is that of the key, found since elements were made or removed last.
    pub unsafe fn insert(
        &mut self,
        heap: &mut Heap,
        keys: Keys,
        key: Key,
        place: Option<Place>,
    ) -> Option<*mut u64> {
        let inserted = match (&mut self.tree, place) {
            // SAFETY: the place is the key's; a new key holds its texts just below.
            (Some(tree), Some(place)) => unsafe { tree.insert_in(heap, keys, key, place)? },
            _ => {
                let tree = self.tree.insert(Box::new(Tree::new(heap, keys)?));
                // SAFETY: the key holds its texts just below. (The leaf has room for one.)
                unsafe { tree.insert(heap, keys, key)? }
            }
        };
        if inserted.is_new {
            keys.hold(heap, key);
        }
        Some(inserted.cell)
    }

    /// Removes the element at a place and answers what it held.
    ///
    /// # Safety
    /// `place` was found since elements were made or removed last.
    pub unsafe fn remove(&mut self, heap: &mut Heap, keys: Keys, place: Option<Place>) -> Option<u64> {
        let tree = self.tree.as_mut()?;
        // SAFETY: nothing has changed since the place was found.
        let word = unsafe { tree.remove_from(heap, keys, place?)? };
        if tree.is_empty()
            && let Some(tree) = self.tree.take()
        {
            tree.free(heap, keys);
        }
        Some(word)
    }

    /// The entry with the smallest key above `key`, or of all.
    pub fn after<'a>(&'a self, by: Caller, keys: Keys, key: Option<Key>) -> Option<(Key<'a>, *mut u64)> {
        self.tree.as_ref()?.after(by, keys, key)
    }

    /// Frees everything, until it is enough; whether all is done.
    pub fn free_until(&mut self, heap: &mut Heap, shape: Shape, is_enough: &mut dyn FnMut() -> bool) -> bool {
        let Some(tree) = &mut self.tree else { return true };
        // SAFETY: without leaves the tree isn't used any more.
        while unsafe { tree.drop_last_leaf(heap, shape) } {
            if is_enough() {
                return false;
            }
        }
        self.tree = None;
        true
    }
}
