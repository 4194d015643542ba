//! The tree, its tables and its code, which are changed together.
//!
//! `unsafe` here: generated code is called, which reads packets and tables. That is sound: it reads a byte of a packet
//! only after it has compared the packet's length. It reads a table only through the table's [`Reference`], which is
//! renewed by each change of the table, while this `Structure` is borrowed mutably. The indices that it finds in a
//! table are valid in that table. The code belongs to the tree. All of these are changed in this file only.

use alloc::{boxed::Box, string::String, sync::Arc, vec, vec::Vec};
use core::ops::Deref;

use super::reference::Reference;
use super::table::{Pair, Table, TableShape};
use super::tree::{Found, Tables, Tree};

/// Puts code into executable memory, from then on not writable.
pub(super) type Place<M> = Box<dyn Fn(&[u8]) -> Result<M, String> + Send + Sync>;

/// All that a classification reads. Clones share everything until one is changed.
pub(super) struct Structure<M> {
    tree: Arc<Tree>,
    tables: Vec<Option<Arc<Table>>>,
    references: Vec<Reference>,
    /// The age of each target, by number from 1; greater is older. That of 0, no target, is 0.
    ages: Arc<Vec<u64>>,
    code: Option<Arc<M>>,
}

/// Generated code: takes the packet, its length, the tables, and the ages of targets.
#[cfg(target_arch = "x86_64")]
type Entry = unsafe extern "sysv64" fn(*const u8, usize, *const Reference, *const u64) -> Answer;

/// The result of generated code: a target's number, or 0 for none; and the weight of its row.
#[cfg(target_arch = "x86_64")]
#[repr(C)]
struct Answer {
    target: u64,
    weight: u64,
}

impl<M> Clone for Structure<M> {
    fn clone(&self) -> Self {
        Structure {
            tree: self.tree.clone(),
            tables: self.tables.clone(),
            references: self.references.clone(),
            ages: self.ages.clone(),
            code: self.code.clone(),
        }
    }
}

impl<M> Default for Structure<M> {
    fn default() -> Self {
        let (tables, references) = (Vec::new(), Vec::new());
        Structure { tree: Arc::default(), tables, references, ages: Arc::new(vec![0]), code: None }
    }
}

impl<M> Structure<M> {
    /// Inserts a row into a table ([`Table::insert`]). The target must have an age.
    pub fn insert(&mut self, table: usize, key: &[u32], pairs: &[Pair], weight: u64, target: u32) {
        assert!((target as usize) < self.ages.len(), "generated code looks for the age there");
        self.change(table, |table| table.insert(key, pairs, weight, target));
    }

    /// Removes rows from a table ([`Table::remove`]).
    pub fn remove(&mut self, table: usize, key: &[u32], target: u32) {
        self.change(table, |table| table.remove(key, target));
    }

    fn change(&mut self, table: usize, change: impl FnOnce(&mut Table)) {
        let Some(shared) = &mut self.tables[table] else { return };
        let own = Arc::make_mut(shared);
        change(own);
        self.references[table] = Reference::of(own);
    }

    /// Sets the age of a target.
    pub fn set_age(&mut self, target: u32, age: u64) {
        let ages = Arc::make_mut(&mut self.ages);
        let target = target as usize;
        if target >= ages.len() {
            ages.resize(target + 1, 0);
        }
        ages[target] = age;
    }

    pub fn age(&self, target: u32) -> u64 {
        self.ages[target as usize]
    }

    pub fn is_empty(&self, table: usize) -> bool {
        self.tables[table].as_ref().is_none_or(|table| table.is_empty())
    }

    /// Replaces a table by an empty one, or adds one. Nothing is found until the tree is set anew.
    pub fn replace(&mut self, index: usize, shape: Option<TableShape>) {
        (self.tree, self.code) = (Arc::default(), None);
        let table = shape.map(Table::new);
        if index >= self.tables.len() {
            self.tables.resize(index + 1, None);
            self.references.resize(index + 1, Reference::NONE);
        }
        self.references[index] = table.as_ref().map_or(Reference::NONE, Reference::of);
        self.tables[index] = table.map(Arc::new);
    }

    /// The tree, its tables, and the ages of targets.
    pub fn parts(&self) -> (&Tree, Tables<'_>) {
        (&self.tree, Tables { tables: &self.tables, ages: &self.ages })
    }

    pub fn is_compiled(&self) -> bool {
        self.code.is_some()
    }
}

impl<M: Deref<Target = [u8]>> Structure<M> {
    /// Sets the tree of these tables, and compiles it if there is memory for code.
    pub fn lead(&mut self, tree: Tree, place: Option<&Place<M>>) {
        self.code = place.and_then(|place| self.compile(&tree, place)).map(Arc::new);
        self.tree = Arc::new(tree);
    }

    #[cfg(target_arch = "x86_64")]
    fn compile(&self, tree: &Tree, place: &Place<M>) -> Option<M> {
        let shapes = self.tables.iter().map(|table| table.as_ref().map(|table| table.shape())).collect();
        let code = super::compile::compile(tree, shapes)?;
        place(&code).ok()
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn compile(&self, _: &Tree, _: &Place<M>) -> Option<M> {
        None
    }

    /// Finds who wants a packet.
    #[inline]
    pub fn find(&self, packet: &[u8]) -> Found {
        #[cfg(target_arch = "x86_64")]
        if let Some(code) = &self.code {
            // SAFETY: code begins with an entry, and was compiled for these tables, whose references are up to date:
            // see the head of this file.
            let answer = unsafe {
                let entry = core::mem::transmute::<*const u8, Entry>(code.as_ptr());
                entry(packet.as_ptr(), packet.len(), self.references.as_ptr(), self.ages.as_ptr())
            };
            return Found { target: answer.target as u32, weight: answer.weight };
        }
        self.walk(packet)
    }

    fn walk(&self, packet: &[u8]) -> Found {
        let mut found = Found::default();
        let (tree, tables) = self.parts();
        tree.walk(packet, tables, &mut found);
        found
    }
}
