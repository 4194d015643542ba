//! Tree, tables and code, which always fit together.
//!
//! `unsafe` here: generated code is called, and reads packets and tables. That is sound because it reads no byte of a
//! packet but behind a comparison with its length; because of each table it reads what the table's [`Reference`] says,
//! which is renewed whenever the table may have changed, while nobody else has this `Structure`; because the numbers of
//! buckets and rows that it takes from there are such of the same table; and because the code is of the same tree. Each
//! of them is changed here only.

use alloc::{boxed::Box, string::String, sync::Arc, vec, vec::Vec};
use core::ops::Deref;

use super::reference::Reference;
use super::table::{Pair, Table, TableShape};
use super::tree::{Found, Tables, Tree};

/// Makes memory of code, executable and (from then on) not writable.
pub(super) type Place<M> = Box<dyn Fn(&[u8]) -> Result<M, String> + Send + Sync>;

/// What one classification needs, and what it shares with others. A copy of it shares everything until one of them is
/// changed.
pub(super) struct Structure<M> {
    tree: Arc<Tree>,
    tables: Vec<Option<Arc<Table>>>,
    references: Vec<Reference>,
    /// Of each target, whose numbers begin at 1; the greater the older. Nobody's is 0.
    ages: Arc<Vec<u64>>,
    code: Option<Arc<M>>,
}

/// What code is called with: the packet, how many bytes it has, the tables, and the ages of targets.
#[cfg(target_arch = "x86_64")]
type Entry = unsafe extern "sysv64" fn(*const u8, usize, *const Reference, *const u64) -> Answer;

/// What code answers: a target's number, from 1 on, or 0; and the weight with which it was found.
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
    /// Another row in a table, as [`Table::insert`] says. The target must have an age.
    pub fn insert(&mut self, table: usize, key: &[u32], pairs: &[Pair], weight: u64, target: u32) {
        assert!((target as usize) < self.ages.len(), "generated code looks for the age there");
        self.change(table, |table| table.insert(key, pairs, weight, target));
    }

    /// Fewer rows in a table, as [`Table::remove`] says.
    pub fn remove(&mut self, table: usize, key: &[u32], target: u32) {
        self.change(table, |table| table.remove(key, target));
    }

    fn change(&mut self, table: usize, change: impl FnOnce(&mut Table)) {
        let Some(shared) = &mut self.tables[table] else { return };
        let own = Arc::make_mut(shared);
        change(own);
        self.references[table] = Reference::of(own);
    }

    /// A target has another age from now on.
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

    /// A table without rows in place of another one, or none. Nothing is found until a tree is given anew.
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
    /// Another tree of these tables, compiled if there is a place for code.
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

    /// Who wants a packet.
    #[inline]
    pub fn find(&self, packet: &[u8]) -> Found {
        #[cfg(target_arch = "x86_64")]
        if let Some(code) = &self.code {
            // SAFETY: at its beginning stands an entry, and its tables are as they were when it was compiled, or as
            // they became.
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
