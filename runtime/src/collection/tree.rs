//! B+-tree: elements in the order of their keys, any kinds of keys. Finding, inserting and removing take logarithmic
//! time. Memory is about twice what the elements need in the worst case, and little more than they need if they come in
//! order. A tree of a few elements is one small sorted block.
//!
//! Two neighbours whose entries fit into one node are joined as soon as one of them gets smaller. Nothing else is ever
//! moved between neighbours: that suffices to keep within this memory.
//!
//! A key in a leaf holds its texts, and so does a separator in an inner node, so each can go before the other.

mod insert;
mod node;
mod remove;

use core::cell::Cell;
use core::ops::ControlFlow;

use self::node::Node;
use super::keys::{Key, Keys};
use super::shape::Shape;
use crate::heap::Heap;
use crate::long::Caller;

/// A tree with at least one element (except just after [`Tree::new`]). Its nodes are its own: they live as long as it
/// does, and only its methods change them.
pub struct Tree {
    root: Node,
    /// The leaf that [`Tree::after`] went to last, if nothing has changed since; its mark says to which entry.
    last: Cell<Option<Node>>,
}

/// A leaf alone begins with this capacity, and doubles it.
const LEAST: usize = 2;
/// More levels than any memory can fill.
const LEVELS: usize = 16;

/// Where an element is, or would be: the way to its leaf, and its index there.
pub struct Place {
    path: Path,
    leaf: Node,
    index: Result<usize, usize>,
}

/// The way from the root to a leaf: each inner node and the index of the child.
struct Path {
    steps: [(Node, usize); LEVELS],
    length: usize,
}

impl Tree {
    /// An empty tree. `None`: there is no memory.
    pub fn new(heap: &mut Heap, keys: Keys) -> Option<Tree> {
        Some(Tree { root: Node::make(heap, keys, 0, LEAST)?, last: Cell::new(None) })
    }

    /// The element with a key.
    #[inline]
    pub fn find(&self, keys: Keys, key: Key) -> Option<*mut u64> {
        self.find_in_parts(Caller::HASTY, keys, key)
    }

    /// The same; other processes may run between parts of long texts, here and below. They may search the tree, but
    /// don't change it.
    #[inline]
    pub fn find_in_parts(&self, by: Caller, keys: Keys, key: Key) -> Option<*mut u64> {
        let mut node = self.root;
        while !node.is_leaf() {
            // SAFETY: the node is no leaf, and has that child.
            node = unsafe { node.child(keys, node.child_for(by, keys, key)) };
        }
        // SAFETY: there is an entry in that position.
        node.position(by, keys, key).ok().map(|index| unsafe { node.cell(keys, index) })
    }

    /// The entry with the smallest key above `key`, or of all.
    pub fn after<'a>(&'a self, by: Caller, keys: Keys, key: Option<Key>) -> Option<(Key<'a>, *mut u64)> {
        let (leaf, index) = match self.following(keys, key) {
            Some(place) => place,
            None => self.search_after(by, keys, key)?,
        };
        leaf.set_mark(index);
        self.last.set(Some(leaf));
        // SAFETY: there is an entry with that index, which stays while the tree is borrowed.
        Some(unsafe { (leaf.key(keys, index), leaf.cell(keys, index)) })
    }

    /// The place behind the last one, if that was the key's and in the same leaf.
    fn following(&self, keys: Keys, key: Option<Key>) -> Option<(Node, usize)> {
        let (leaf, key) = self.last.get().zip(key)?;
        let index = leaf.mark();
        // SAFETY: there is an entry with that index, too.
        let is_next = index + 1 < leaf.count() && keys.is_same(unsafe { leaf.key(keys, index) }, key);
        is_next.then_some((leaf, index + 1))
    }

    fn search_after(&self, by: Caller, keys: Keys, key: Option<Key>) -> Option<(Node, usize)> {
        let mut node = self.root;
        let mut greater = None;
        while !node.is_leaf() {
            // SAFETY: the node is no leaf, and has these children.
            unsafe {
                let index = key.map_or(0, |key| node.child_for(by, keys, key));
                if index + 1 < node.count() {
                    greater = Some(node.child(keys, index + 1));
                }
                node = node.child(keys, index);
            }
        }
        let index = key.map_or(0, |key| node.above(by, keys, key));
        if index < node.count() {
            return Some((node, index));
        }
        node = greater?;
        while !node.is_leaf() {
            // SAFETY: the node is no leaf, so it has a child.
            node = unsafe { node.child(keys, 0) };
        }
        Some((node, 0))
    }

    /// Shows every entry, in order, until told to stop.
    pub fn visit<'a, B>(
        &'a self,
        keys: Keys,
        show: &mut dyn FnMut(Key<'a>, *mut u64) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        // SAFETY: the nodes stay while the tree is borrowed.
        unsafe { visit(self.root, keys, show) }
    }

    /// Shows the entries of every leaf, in order: the words of the keys, the cells, and how many.
    pub fn leaves(&self, keys: Keys, show: &mut dyn FnMut(*const u64, *mut u64, usize)) {
        leaves(self.root, keys, show);
    }

    /// Frees the last leaf and drops what its entries own; whether there is another.
    ///
    /// # Safety
    /// After `false` there is no tree any more: it isn't used again.
    pub unsafe fn drop_last_leaf(&mut self, heap: &mut Heap, shape: Shape) -> bool {
        let keys = shape.keys;
        self.last.set(None);
        let (mut path, node) = self.descend_to_last(keys);
        // SAFETY: the leaf is freed after what its entries own, and so is each node above it that has no other child.
        // The first one that has loses its last child, together with the separator before that.
        unsafe {
            for index in 0..node.count() {
                keys.drop(heap, node.words(keys, index));
                shape.drop_word(heap, *node.cell(keys, index));
            }
            node.free(heap, keys);
            while let Some((node, index)) = path.pop() {
                if index > 0 {
                    keys.drop(heap, node.words(keys, index));
                    node.set_count(index);
                    return true;
                }
                node.free(heap, keys);
            }
        }
        false
    }

    /// The number of entries, if they are all in one leaf.
    pub fn small_count(&self) -> Option<usize> {
        self.root.is_leaf().then(|| self.root.count())
    }

    /// Frees the nodes; the entries have gone elsewhere, or what they own is gone already.
    pub fn free(self, heap: &mut Heap, keys: Keys) {
        // SAFETY: the nodes go with the tree.
        unsafe { free(self.root, heap, keys) };
    }

    /// Where the element with a key is, or would be.
    #[inline]
    pub fn place(&self, by: Caller, keys: Keys, key: Key) -> Place {
        // SAFETY: the closure gets inner nodes only, and gives the index of a child.
        let (path, leaf) = unsafe { self.descend_by(keys, |node| node.child_for(by, keys, key)) };
        Place { path, leaf, index: leaf.position(by, keys, key) }
    }

    /// Goes down to the last leaf.
    fn descend_to_last(&self, keys: Keys) -> (Path, Node) {
        // SAFETY: every node above the leaves has a child.
        unsafe { self.descend_by(keys, |node| node.count() - 1) }
    }

    /// Goes down to a leaf by the children that `choose` says the index of.
    ///
    /// # Safety
    /// The node that `choose` is asked about has a child with the index that it answers.
    #[inline]
    unsafe fn descend_by(&self, keys: Keys, choose: impl Fn(Node) -> usize) -> (Path, Node) {
        let mut path = Path { steps: [(self.root, 0); LEVELS], length: 0 };
        let mut node = self.root;
        while !node.is_leaf() {
            let index = choose(node);
            path.steps[path.length] = (node, index);
            path.length += 1;
            // SAFETY: the node is no leaf, and has the child that was chosen.
            node = unsafe { node.child(keys, index) };
        }
        (path, node)
    }
}

impl Path {
    /// Goes one step back up.
    fn pop(&mut self) -> Option<(Node, usize)> {
        self.length = self.length.checked_sub(1)?;
        Some(self.steps[self.length])
    }

    fn steps(&self) -> &[(Node, usize)] {
        &self.steps[..self.length]
    }
}

/// Shows every entry below a node.
///
/// # Safety
/// During `'a` the nodes stay as they are.
unsafe fn visit<'a, B>(
    node: Node,
    keys: Keys,
    show: &mut dyn FnMut(Key<'a>, *mut u64) -> ControlFlow<B>,
) -> ControlFlow<B> {
    for index in 0..node.count() {
        // SAFETY: there is an entry with that index, in an inner node a child.
        unsafe {
            if node.is_leaf() {
                show(node.key(keys, index), node.cell(keys, index))?;
            } else {
                visit(node.child(keys, index), keys, show)?;
            }
        }
    }
    ControlFlow::Continue(())
}

/// Shows every leaf below a node.
fn leaves(node: Node, keys: Keys, show: &mut dyn FnMut(*const u64, *mut u64, usize)) {
    if node.is_leaf() {
        // SAFETY: a node has room for an entry.
        let (words, cells) = unsafe { (node.words(keys, 0), node.cell(keys, 0)) };
        return show(words, cells, node.count());
    }
    for index in 0..node.count() {
        // SAFETY: the node is no leaf, and has that child.
        leaves(unsafe { node.child(keys, index) }, keys, show);
    }
}

/// Frees a node with all below it.
///
/// # Safety
/// None of them is used any more; what the leaves' entries own has gone elsewhere.
unsafe fn free(node: Node, heap: &mut Heap, keys: Keys) {
    // SAFETY: in an inner node every entry has a child, and all but the first a separator that holds its texts.
    unsafe {
        if !node.is_leaf() {
            for index in 0..node.count() {
                if index > 0 {
                    keys.drop(heap, node.words(keys, index));
                }
                free(node.child(keys, index), heap, keys);
            }
        }
        node.free(heap, keys);
    }
}
