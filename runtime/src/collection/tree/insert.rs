//! Inserting into the tree. All nodes that it needs are made first, so that it either happens or changes nothing.
//!
//! # Why this is sound
//! See the tree module and its nodes.
#![allow(unsafe_op_in_unsafe_fn)]

use super::node::Node;
use super::{LEVELS, Path, Place, Tree};
use crate::collection::keys::{Key, Keys};
use crate::collection::shape::Inserted;
use crate::heap::Heap;
use crate::long::Caller;

/// Where full nodes are divided.
#[derive(Clone, Copy)]
enum Cut {
    /// In the middle.
    Middle,
    /// Before the new entry, which is the first of all: keys come in descending order, and the right part stays full.
    First,
    /// Before the new entry, which is the last of all: keys come in ascending order, and the left part stays full.
    Last,
}

impl Tree {
    /// Finds or makes the element with a key. The caller sees to it that a new key holds its texts. `None`: there is
    /// no memory.
    pub unsafe fn insert(&mut self, heap: &mut Heap, keys: Keys, key: Key) -> Option<Inserted> {
        let place = self.place(Caller::HASTY, keys, key);
        self.insert_in(heap, keys, key, place)
    }

    /// The same, where that place is the key's.
    #[inline]
    pub unsafe fn insert_in(
        &mut self,
        heap: &mut Heap,
        keys: Keys,
        key: Key,
        place: Place,
    ) -> Option<Inserted> {
        let Place { path, leaf, index } = place;
        match index {
            Ok(index) => Some(Inserted { cell: leaf.cell(keys, index), is_new: false }),
            Err(index) => {
                let cell = self.insert_at(heap, keys, key, path, leaf, index)?;
                Some(Inserted { cell, is_new: true })
            }
        }
    }

    /// Makes the element with a key that is greater than all others, likewise.
    pub unsafe fn append(&mut self, heap: &mut Heap, keys: Keys, key: Key) -> Option<*mut u64> {
        let (path, leaf) = self.descend_to_last(keys);
        self.insert_at(heap, keys, key, path, leaf, leaf.count())
    }

    /// Makes a new element in a leaf, to which the path leads.
    #[inline]
    unsafe fn insert_at(
        &mut self,
        heap: &mut Heap,
        keys: Keys,
        key: Key,
        mut path: Path,
        mut leaf: Node,
        index: usize,
    ) -> Option<*mut u64> {
        let full = Node::full(keys);
        if leaf.is_full() && leaf.capacity() < full {
            leaf = self.resize_leaf(heap, keys, full.min(2 * leaf.capacity()))?;
        }
        self.last.set(None);
        if !leaf.is_full() {
            return Some(put(leaf, keys, index, key, 0u64));
        }
        let mut supply = Supply::new(heap, keys, &path, leaf)?;
        let cut = cut_for(&path, leaf, index);
        let (cell, mut division) = add(leaf, keys, index, key, 0u64, cut, &mut supply);
        if let Some(right) = division {
            keys.hold(heap, right.key(keys, 0));
        }
        while let Some(right) = division {
            let separator = right.key(keys, 0);
            division = match path.pop() {
                Some((node, index)) => add(node, keys, index + 1, separator, right, cut, &mut supply).1,
                None => {
                    let root = supply.take();
                    root.put_first_child(keys, self.root);
                    root.put(keys, 1, separator, right);
                    root.set_count(2);
                    self.root = root;
                    None
                }
            };
        }
        Some(cell)
    }

    /// Gives the only leaf another capacity. `None`: there is no memory.
    pub(super) unsafe fn resize_leaf(
        &mut self,
        heap: &mut Heap,
        keys: Keys,
        capacity: usize,
    ) -> Option<Node> {
        let leaf = Node::make(heap, keys, 0, capacity)?;
        self.root.give(keys, 0, leaf);
        self.root.free(heap, keys);
        self.root = leaf;
        Some(leaf)
    }
}

/// Adds an entry to a node; a full one is divided. Answers its cell, and the new right neighbour; the first key there
/// shall become the separator (an inner node does not use it itself).
unsafe fn add<T>(
    node: Node,
    keys: Keys,
    index: usize,
    key: Key,
    content: T,
    cut: Cut,
    supply: &mut Supply,
) -> (*mut u64, Option<Node>) {
    let mut place = (node, index);
    let mut division = None;
    if node.is_full() {
        let right = supply.take();
        let at = match cut {
            Cut::Middle => node.count() / 2,
            Cut::First | Cut::Last => index,
        };
        node.give(keys, at, right);
        place = match cut {
            Cut::Last => (right, 0),
            Cut::Middle if index > at => (right, index - at),
            _ => (node, index),
        };
        division = Some(right);
    }
    (put(place.0, keys, place.1, key, content), division)
}

/// Adds an entry to a node that is not full, and answers its cell.
unsafe fn put<T>(node: Node, keys: Keys, index: usize, key: Key, content: T) -> *mut u64 {
    node.open(keys, index);
    node.put(keys, index, key, content);
    node.cell(keys, index)
}

unsafe fn cut_for(path: &Path, leaf: Node, index: usize) -> Cut {
    if index == leaf.count() && path.steps().iter().all(|&(node, index)| index + 1 == node.count()) {
        Cut::Last
    } else if index == 0 && path.steps().iter().all(|&(_, index)| index == 0) {
        Cut::First
    } else {
        Cut::Middle
    }
}

/// Nodes for what has to be divided, one for each level from the leaf up.
struct Supply {
    nodes: [Option<Node>; LEVELS + 1],
    taken: usize,
}

impl Supply {
    unsafe fn new(heap: &mut Heap, keys: Keys, path: &Path, leaf: Node) -> Option<Supply> {
        let mut supply = Supply { nodes: [None; LEVELS + 1], taken: 0 };
        let way_up = path.steps().iter().rev().map(|&(node, _)| node);
        let mut needed = 0;
        for node in core::iter::once(leaf).chain(way_up) {
            if !node.is_full() {
                break;
            }
            needed += 1;
        }
        if needed > path.steps().len() {
            // The root is divided too, and gets a parent.
            needed += 1;
        }
        for level in 0..needed {
            supply.nodes[level] = Node::make(heap, keys, level, Node::full(keys));
            if supply.nodes[level].is_none() {
                supply.nodes.iter().flatten().for_each(|node| node.free(heap, keys));
                return None;
            }
        }
        Some(supply)
    }

    fn take(&mut self) -> Node {
        self.taken += 1;
        self.nodes[self.taken - 1].expect("as many as were counted")
    }
}
