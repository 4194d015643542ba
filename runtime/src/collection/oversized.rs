//! The elements with oversized keys: one of the key's texts is longer than [`LONGEST_HASHED`]. They are kept apart from
//! the others, in a tree, so that their texts are compared in parts, between which others run, and never hashed.
//!
//! # Why this is sound
//! Who looks for an element keeps addresses of nodes while others run, so nothing here may move then: others who look
//! change nothing (a tree stays a tree), and nobody may make or remove elements. Who does that itself looks for their
//! place first, when no reference to the heap is held.
//!
//! [`LONGEST_HASHED`]: super::LONGEST_HASHED
#![allow(unsafe_op_in_unsafe_fn)]

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
    pub unsafe fn find(&self, by: Caller, keys: Keys, key: Key) -> Option<*mut u64> {
        self.tree.as_ref()?.find_in_parts(by, keys, key)
    }

    /// Where it is, or would be. `None`: there are no elements.
    pub unsafe fn place(&self, by: Caller, keys: Keys, key: Key) -> Option<Place> {
        Some(self.tree.as_ref()?.place(by, keys, key))
    }

    /// The element with a key, the place of which is known, made if it isn't there. `None`: there is no memory.
    pub unsafe fn insert(
        &mut self,
        heap: &mut Heap,
        keys: Keys,
        key: Key,
        place: Option<Place>,
    ) -> Option<*mut u64> {
        let inserted = match (&mut self.tree, place) {
            (Some(tree), Some(place)) => tree.insert_in(heap, keys, key, place)?,
            _ => {
                let tree = self.tree.insert(Box::new(Tree::new(heap, keys)?));
                // The leaf has room for one.
                tree.insert(heap, keys, key)?
            }
        };
        if inserted.is_new {
            keys.hold(heap, key);
        }
        Some(inserted.cell)
    }

    /// Removes the element at a place and answers what it held.
    pub unsafe fn remove(&mut self, heap: &mut Heap, keys: Keys, place: Option<Place>) -> Option<u64> {
        let tree = self.tree.as_mut()?;
        let word = tree.remove_from(heap, keys, place?)?;
        if tree.is_empty()
            && let Some(tree) = self.tree.take()
        {
            tree.free(heap, keys);
        }
        Some(word)
    }

    /// The entry with the smallest key above `key`, or of all.
    pub unsafe fn after(&self, by: Caller, keys: Keys, key: Option<Key>) -> Option<(Key, *mut u64)> {
        self.tree.as_ref()?.after(by, keys, key)
    }

    /// Frees everything, until it is enough; whether all is done.
    pub unsafe fn free_until(
        &mut self,
        heap: &mut Heap,
        shape: Shape,
        is_enough: &mut dyn FnMut() -> bool,
    ) -> bool {
        let Some(tree) = &mut self.tree else { return true };
        while tree.drop_last_leaf(heap, shape) {
            if is_enough() {
                return false;
            }
        }
        self.tree = None;
        true
    }
}
