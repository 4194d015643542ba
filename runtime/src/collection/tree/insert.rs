//! Inserting into the tree. All nodes that it needs are made first, so that it either happens or changes nothing.

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
    /// Finds or makes the element with a key. `None`: there is no memory.
    ///
    /// # Safety
    /// The caller sees to it that a new key holds its texts.
    pub unsafe fn insert(&mut self, heap: &mut Heap, keys: Keys, key: Key) -> Option<Inserted> {
        let place = self.place(Caller::HASTY, keys, key);
        // SAFETY: the place was found just now, and a new key will hold its texts.
        unsafe { self.insert_in(heap, keys, key, place) }
    }

    /// The same, where the place of the key is known.
    ///
    /// # Safety
    /// As for [`Tree::insert`]; the place was found since the tree was changed last.
    #[inline]
    pub unsafe fn insert_in(
        &mut self,
        heap: &mut Heap,
        keys: Keys,
        key: Key,
        place: Place,
    ) -> Option<Inserted> {
        let Place { path, leaf, index } = place;
        // SAFETY: the place is the key's, and a new key will hold its texts.
        unsafe {
            match index {
                Ok(index) => Some(Inserted { cell: leaf.cell(keys, index), is_new: false }),
                Err(index) => {
                    let cell = self.insert_at(heap, keys, key, path, leaf, index)?;
                    Some(Inserted { cell, is_new: true })
                }
            }
        }
    }

    /// Makes the element with a key that is greater than all others. `None`: there is no memory.
    ///
    /// # Safety
    /// What the key holds goes over to the tree, unless that is freed.
    pub unsafe fn append(&mut self, heap: &mut Heap, keys: Keys, key: Key) -> Option<*mut u64> {
        let (path, leaf) = self.descend_to_last(keys);
        // SAFETY: the last leaf ends where the key's place is, and the key holds its texts.
        unsafe { self.insert_at(heap, keys, key, path, leaf, leaf.count()) }
    }

    /// Makes a new element in a leaf.
    ///
    /// # Safety
    /// The path leads to the leaf, and `index` is at most its count. The caller sees to it that the key holds its
    /// texts.
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
            // SAFETY: a leaf that is smaller than others is alone, and gets larger.
            leaf = unsafe { self.resize_leaf(heap, keys, full.min(2 * leaf.capacity()))? };
        }
        self.last.set(None);
        if !leaf.is_full() {
            // SAFETY: there is room for it.
            return Some(unsafe { put(leaf, keys, index, key, 0u64) });
        }
        let mut supply = Supply::new(heap, keys, &path, leaf)?;
        let cut = cut_for(&path, leaf, index);
        // SAFETY: each full node on the path, from the leaf up, is divided, and its right part is added to its parent.
        // The first key of the right part of the leaf becomes their separator, and holds its texts once more for that.
        unsafe {
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
    }

    /// Gives the only leaf another capacity. `None`: there is no memory.
    ///
    /// # Safety
    /// The root is a leaf, and its entries fit.
    pub(super) unsafe fn resize_leaf(
        &mut self,
        heap: &mut Heap,
        keys: Keys,
        capacity: usize,
    ) -> Option<Node> {
        let leaf = Node::make(heap, keys, 0, capacity)?;
        // SAFETY: the entries move to the new leaf, and the old one isn't used any more.
        unsafe {
            self.root.give(keys, 0, leaf);
            self.root.free(heap, keys);
        }
        self.root = leaf;
        Some(leaf)
    }
}

/// Adds an entry to a node; a full one is divided. Answers its cell, and the new right neighbour; the first key there
/// shall become the separator (an inner node does not use it itself).
///
/// # Safety
/// As for [`put`], but the node may be full.
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
        // SAFETY: the new node is empty, of the same level, and has room for all.
        unsafe { node.give(keys, at, right) };
        place = match cut {
            Cut::Last => (right, 0),
            Cut::Middle if index > at => (right, index - at),
            _ => (node, index),
        };
        division = Some(right);
    }
    // SAFETY: each part has less entries than it has room for, and the index counts from its beginning.
    (unsafe { put(place.0, keys, place.1, key, content) }, division)
}

/// Adds an entry to a node that is not full, and answers its cell.
///
/// # Safety
/// `index` is at most the node's count; the content is an element in a leaf, and a child in an inner node. What the key
/// holds goes over to the node.
unsafe fn put<T>(node: Node, keys: Keys, index: usize, key: Key, content: T) -> *mut u64 {
    // SAFETY: there is room for one more.
    unsafe {
        node.open(keys, index);
        node.put(keys, index, key, content);
        node.cell(keys, index)
    }
}

fn cut_for(path: &Path, leaf: Node, index: usize) -> Cut {
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
    /// As many as an insertion into a leaf needs, to which the path leads. `None`: there is no memory.
    fn new(heap: &mut Heap, keys: Keys, path: &Path, leaf: Node) -> Option<Supply> {
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
                // SAFETY: the nodes are empty, and nothing else refers to them.
                supply.nodes.iter().flatten().for_each(|node| unsafe { node.free(heap, keys) });
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
