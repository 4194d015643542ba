//! The elements of a collection outside its dense part. While they are few they are a tree of one block, then a hash
//! table, and a tree again when the program has asked for their order or when they are many.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::ControlFlow;

use super::hash::{Hash, Rebuilding};
use super::keys::{Key, Keys};
use super::shape::{Inserted, Shape};
use super::sorting::{Progress, Sorting};
use super::tree::Tree;
use crate::heap::Heap;
use crate::long::Caller;

/// The rest of a collection.
pub struct Rest {
    form: Form,
    /// A hash table becomes a tree. While other processes run it may be searched; before it is changed, sorting ends.
    sorting: Option<Box<Sorting>>,
    /// The program has asked for the order: there will be no hash table any more.
    is_ordered: bool,
    /// There may be keys next to the dense part, whose elements are to be moved there.
    pub has_neighbours: bool,
    /// How many elements may still move to the dense part.
    pub paid: u32,
}

enum Form {
    Empty,
    Tree(Tree),
    Hash(Hash),
}

/// Whether a table is sorted at once, or only begins to be: then it goes on with [`Rest::sort_some`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Haste {
    AtOnce,
    InParts,
}

/// The most elements that are kept in one sorted block.
const FEW: usize = 8;
/// A hash table with more elements becomes a tree instead of growing: to move them all would take milliseconds.
const MANY: usize = 1 << 16;

impl Rest {
    /// No elements.
    pub const EMPTY: Rest =
        Rest { form: Form::Empty, sorting: None, is_ordered: false, has_neighbours: false, paid: 0 };

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        matches!(self.form, Form::Empty)
    }

    /// The element with a key.
    #[inline]
    pub fn find(&self, keys: Keys, key: Key) -> Option<*mut u64> {
        match &self.form {
            Form::Empty => None,
            Form::Tree(tree) => tree.find(keys, key),
            Form::Hash(hash) => hash.find(keys, key),
        }
    }

    /// Whether there is an element with a key.
    pub fn has(&self, keys: Keys, key: Key) -> bool {
        self.find(keys, key).is_some()
    }

    /// Finds or makes the element with a key. `None`: there is no memory, or elements have begun to be sorted.
    pub fn insert(&mut self, heap: &mut Heap, keys: Keys, key: Key, haste: Haste) -> Option<Inserted> {
        // SAFETY: a new key holds its texts just below.
        let inserted = unsafe { self.place(heap, keys, key, haste)? };
        if inserted.is_new {
            keys.hold(heap, key);
        }
        Some(inserted)
    }

    /// The same, but for the holding of texts.
    ///
    /// # Safety
    /// The caller sees to it that a new key holds its texts.
    unsafe fn place(&mut self, heap: &mut Heap, keys: Keys, key: Key, haste: Haste) -> Option<Inserted> {
        // SAFETY: a new key will hold its texts, wherever it is put.
        unsafe {
            match &mut self.form {
                Form::Empty => {
                    let mut tree = Tree::new(heap, keys)?;
                    // The leaf has room for one.
                    let inserted = tree.insert(heap, keys, key);
                    self.form = Form::Tree(tree);
                    inserted
                }
                Form::Tree(tree) => {
                    if self.is_ordered || tree.small_count() != Some(FEW) || tree.find(keys, key).is_some() {
                        return tree.insert(heap, keys, key);
                    }
                    self.become_hash(heap, keys);
                    match &mut self.form {
                        Form::Hash(hash) => hash.insert(keys, key),
                        Form::Tree(tree) => tree.insert(heap, keys, key),
                        _ => None,
                    }
                }
                Form::Hash(hash) if self.sorting.is_none() => match hash.insert(keys, key) {
                    None => self.place_after_change(heap, keys, key, haste),
                    inserted => inserted,
                },
                Form::Hash(_) => self.place_after_change(heap, keys, key, haste),
            }
        }
    }

    /// Inserts into a hash table that has refused.
    ///
    /// # Safety
    /// As for [`Rest::place`].
    #[cold]
    unsafe fn place_after_change(
        &mut self,
        heap: &mut Heap,
        keys: Keys,
        key: Key,
        haste: Haste,
    ) -> Option<Inserted> {
        if let Form::Hash(hash) = &mut self.form
            && self.sorting.is_none()
            && hash.count() < MANY
        {
            match hash.rebuild(heap, keys) {
                Err(Rebuilding::Memory) => return None,
                Err(Rebuilding::Crowded) => {}
                Ok(()) => {
                    // SAFETY: a new key will hold its texts.
                    if let Some(inserted) = unsafe { hash.insert(keys, key) } {
                        return Some(inserted);
                    }
                }
            }
        }
        self.begin_sorting(heap, keys);
        if haste == Haste::AtOnce {
            while !self.sort_some(heap, keys) {}
        }
        match &mut self.form {
            // SAFETY: a new key will hold its texts.
            Form::Tree(tree) => unsafe { tree.insert(heap, keys, key) },
            _ => None,
        }
    }

    /// Turns the few elements of a tree into a hash table. If there is no memory, they stay.
    #[cold]
    fn become_hash(&mut self, heap: &mut Heap, keys: Keys) {
        let Form::Tree(tree) = &self.form else { return };
        let Some(mut hash) = Hash::new(heap, keys, FEW + 1) else { return };
        // SAFETY: the entry is there, and only one of tree and table holds it in the end.
        let moved = tree.visit(keys, &mut |key, cell| match unsafe { hash.put_new(keys, key, *cell) } {
            Some(()) => ControlFlow::Continue(()),
            None => ControlFlow::Break(()),
        });
        if moved.is_break() {
            return hash.free(heap, keys);
        }
        if let Form::Tree(tree) = core::mem::replace(&mut self.form, Form::Hash(hash)) {
            tree.free(heap, keys);
        }
    }

    /// A hash table begins to become a tree, for good. If there is no memory, it stays one.
    #[cold]
    pub fn begin_sorting(&mut self, heap: &mut Heap, keys: Keys) {
        if let Form::Hash(hash) = &self.form
            && self.sorting.is_none()
            && let Some(tree) = Tree::new(heap, keys)
        {
            // SAFETY: whatever changes the table ends or stops the sorting before. That frees the table or the tree.
            self.sorting = Some(Box::new(unsafe { Sorting::new(hash, keys, tree) }));
        }
    }

    /// Whether a hash table is becoming a tree.
    #[inline]
    pub fn is_sorting(&self) -> bool {
        self.sorting.is_some()
    }

    /// Whether the order of what is in a hash table isn't known yet.
    #[inline]
    pub fn is_unordered(&self) -> bool {
        matches!(self.form, Form::Hash(_))
    }

    /// Goes on with sorting; whether all is done, or there is no memory.
    #[cold]
    pub fn sort_some(&mut self, heap: &mut Heap, keys: Keys) -> bool {
        let Some(sorting) = &mut self.sorting else { return true };
        match sorting.go_on(heap, keys) {
            Progress::More => return false,
            Progress::NoMemory => self.stop_sorting(heap, keys),
            Progress::Done => self.end_sorting(heap, keys),
        }
        true
    }

    /// Replaces the table by the tree into which it has been sorted.
    fn end_sorting(&mut self, heap: &mut Heap, keys: Keys) {
        let Some(sorting) = self.sorting.take() else { return };
        if let Form::Hash(hash) = core::mem::replace(&mut self.form, Form::Tree(sorting.finish())) {
            hash.free(heap, keys);
        }
        self.is_ordered = true;
    }

    /// A hash table becomes a tree at once, if there is memory.
    fn become_tree(&mut self, heap: &mut Heap, keys: Keys) {
        self.begin_sorting(heap, keys);
        while !self.sort_some(heap, keys) {}
    }

    /// Removes the element with a key and answers what it held.
    pub fn remove(&mut self, heap: &mut Heap, keys: Keys, key: Key) -> Option<u64> {
        if self.is_sorting() {
            while !self.sort_some(heap, keys) {}
        }
        let (word, is_empty) = match &mut self.form {
            Form::Empty => return None,
            Form::Tree(tree) => (tree.remove(heap, keys, key)?, tree.is_empty()),
            Form::Hash(hash) => (hash.remove(heap, keys, key)?, hash.count() == 0),
        };
        if is_empty {
            self.free_form(heap, keys);
        }
        Some(word)
    }

    /// The entry with the smallest key above `key`, or of all. A hash table becomes a tree.
    pub fn after<'a>(
        &'a mut self,
        heap: &mut Heap,
        keys: Keys,
        key: Option<Key>,
    ) -> Option<(Key<'a>, *mut u64)> {
        self.is_ordered = true;
        if self.is_unordered() {
            self.become_tree(heap, keys);
        }
        match &self.form {
            Form::Empty => None,
            Form::Tree(tree) => tree.after(Caller::HASTY, keys, key),
            // There is no memory for the tree, so all is searched each time.
            Form::Hash(hash) => hash.after(keys, key),
        }
    }

    /// Shows every entry, in order, until told to stop.
    pub fn visit_in_order<'a, B>(
        &'a self,
        keys: Keys,
        show: &mut dyn FnMut(Key<'a>, *mut u64) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if !matches!(self.form, Form::Hash(_)) {
            return self.visit(keys, show);
        }
        let mut entries = Vec::new();
        let _ = self.visit::<()>(keys, &mut |key, cell| {
            entries.push((key, cell));
            ControlFlow::Continue(())
        });
        if keys.is_number() {
            entries.sort_unstable_by_key(|(key, _)| key.number());
        } else {
            entries.sort_unstable_by(|&(a, _), &(b, _)| keys.compare(a, b));
        }
        entries.into_iter().try_for_each(|(key, cell)| show(key, cell))
    }

    /// Shows the entries in the order of the keys, neighbours together: the words of the keys, the cells, and how many.
    pub fn ranges(&self, keys: Keys, show: &mut dyn FnMut(*const u64, *mut u64, usize)) {
        match &self.form {
            Form::Tree(tree) => tree.leaves(keys, show),
            _ => {
                let _ = self.visit_in_order::<()>(keys, &mut |key, cell| {
                    show(key.as_ptr(), cell, 1);
                    ControlFlow::Continue(())
                });
            }
        }
    }

    fn visit<'a, B>(
        &'a self,
        keys: Keys,
        show: &mut dyn FnMut(Key<'a>, *mut u64) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match &self.form {
            Form::Empty => ControlFlow::Continue(()),
            Form::Tree(tree) => tree.visit(keys, show),
            Form::Hash(hash) => hash.visit(keys, show),
        }
    }

    /// Whether one more element would turn a small block into a hash table.
    #[inline]
    pub fn is_small_and_full(&self) -> bool {
        matches!(&self.form, Form::Tree(tree) if tree.small_count() == Some(FEW))
    }

    /// The longest range of numbers without gaps in a tree: the first one, and how many.
    pub fn longest_range(&self, keys: Keys) -> (i64, usize) {
        let Form::Tree(tree) = &self.form else { return (0, 0) };
        let (mut best, mut low, mut length) = ((0, 0), 0, 0);
        let _ = tree.visit::<()>(keys, &mut |key, _| {
            let key = key.number();
            if length > 0 && key.wrapping_sub(low) as usize == length {
                length += 1;
            } else {
                (low, length) = (key, 1);
            }
            if length > best.1 {
                best = (low, length);
            }
            ControlFlow::Continue(())
        });
        best
    }

    /// Frees everything, until it is enough; whether all is done.
    pub fn free_until(&mut self, heap: &mut Heap, shape: Shape, is_enough: &mut dyn FnMut() -> bool) -> bool {
        let keys = shape.keys;
        self.stop_sorting(heap, keys);
        match &mut self.form {
            Form::Empty => {}
            Form::Tree(tree) => {
                // SAFETY: without leaves the tree isn't used any more.
                while unsafe { tree.drop_last_leaf(heap, shape) } {
                    if is_enough() {
                        return false;
                    }
                }
                self.form = Form::Empty;
            }
            Form::Hash(hash) => {
                while hash.drop_some(heap, shape) {
                    if is_enough() {
                        return false;
                    }
                }
                self.free_form(heap, keys);
            }
        }
        true
    }

    /// A hash table that was to become a tree stays a hash table.
    fn stop_sorting(&mut self, heap: &mut Heap, keys: Keys) {
        if let Some(sorting) = self.sorting.take() {
            sorting.finish().free(heap, keys);
        }
    }

    fn free_form(&mut self, heap: &mut Heap, keys: Keys) {
        self.stop_sorting(heap, keys);
        match core::mem::replace(&mut self.form, Form::Empty) {
            Form::Empty => {}
            Form::Tree(tree) => tree.free(heap, keys),
            Form::Hash(hash) => hash.free(heap, keys),
        }
    }
}
