//! Facts about the bytes of memory at a point of a block. Each entry is removed at most once, so that the cost of a
//! block is proportional to its accesses.

use super::hash::Table;
use super::roots::{Root, Roots};
use crate::ir::{Op, Operand, Type, ValueId};
use std::collections::BTreeMap;
use std::rc::Rc;

/// An address without its constant part.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Anchor {
    /// The base.
    pub(crate) base: Operand,
    /// The index terms: index, and bytes for each unit.
    pub(crate) terms: Rc<[(Operand, i64)]>,
}

/// The bytes of an access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// The part of the address that is not constant.
    pub(crate) anchor: Anchor,
    /// The object that the address points into.
    pub(crate) root: Root,
    /// The offset of the first byte from the anchor.
    pub(crate) offset: i64,
    /// The number of bytes, if known.
    pub(crate) size: Option<u64>,
}

impl Place {
    /// The byte after the last one.
    pub(crate) fn end(&self) -> i64 {
        self.size
            .and_then(|size| i64::try_from(size).ok())
            .map_or(i64::MAX, |size| self.offset.saturating_add(size))
    }
}

/// Base, offset and terms of an address.
pub(crate) type Parts = (Operand, i64, Rc<[(Operand, i64)]>);

/// The addresses computed so far, by value, for decomposing pointers.
#[derive(Default)]
pub(crate) struct Addresses {
    /// Base, offset and terms of each value that is an address.
    known: Vec<Option<Parts>>,
    /// A shared empty list of terms.
    none: Rc<[(Operand, i64)]>,
}

impl Addresses {
    /// Records the result of an instruction that computes an address.
    pub(crate) fn note(&mut self, result: Option<ValueId>, op: &Op) {
        if let (Some(result), Op::Address { base, offset, terms }) = (result, op) {
            let terms = if terms.is_empty() { self.none.clone() } else { terms.as_slice().into() };
            let at = result.0 as usize;
            if self.known.len() <= at {
                self.known.resize(at + 1, None);
            }
            self.known[at] = Some((base.clone(), *offset, terms));
        }
    }

    /// Base, offset and terms of a pointer.
    pub(crate) fn parts(&self, pointer: &Operand) -> Parts {
        use crate::ir::Const;
        match pointer {
            Operand::Value(value) => match self.known.get(value.0 as usize) {
                Some(Some(parts)) => parts.clone(),
                _ => (pointer.clone(), 0, self.none.clone()),
            },
            Operand::Const(Const::Global(global, offset)) => {
                (Operand::Const(Const::Global(*global, 0)), *offset, self.none.clone())
            }
            Operand::Const(_) => (pointer.clone(), 0, self.none.clone()),
        }
    }

    /// The bytes that an access through a pointer touches.
    pub(crate) fn place(&self, pointer: &Operand, size: Option<u64>, roots: &Roots) -> Place {
        let (base, offset, terms) = self.parts(pointer);
        Place { anchor: Anchor { base, terms }, root: roots.of(pointer), offset, size }
    }

    /// The bytes that a load or store of a type touches.
    pub(crate) fn access(&self, pointer: &Operand, ty: &Type, roots: &Roots) -> Place {
        self.place(pointer, Some(ty.store_size()), roots)
    }
}

/// Facts about the bytes at one anchor: by offset, with the end. The ranges don't overlap.
type Group<T> = BTreeMap<i64, (i64, T)>;

/// Facts about the bytes of one root.
type Groups<T> = Table<Anchor, Group<T>>;

/// Facts about memory, grouped so that an access concerns few groups.
pub(crate) struct Memory<T> {
    /// For each private object.
    private: Table<ValueId, Groups<T>>,
    /// For each local object whose address has escaped.
    local: Table<Root, Groups<T>>,
    /// For each parameter.
    params: Table<ValueId, Groups<T>>,
    /// For each global variable.
    globals: Table<Root, Groups<T>>,
    /// For all pointers of unknown origin.
    unknown: Groups<T>,
}

impl<T> Default for Memory<T> {
    fn default() -> Memory<T> {
        Memory {
            private: Table::default(),
            local: Table::default(),
            params: Table::default(),
            globals: Table::default(),
            unknown: Table::default(),
        }
    }
}

impl<T> Memory<T> {
    /// The fact about exactly these bytes.
    pub(crate) fn at(&mut self, place: &Place) -> Option<&T> {
        let (end, known) = self.groups(place.root)?.get(&place.anchor)?.get(&place.offset)?;
        (place.size.is_some() && *end == place.end()).then_some(known)
    }

    /// Records a fact about these bytes, which replaces other facts about them.
    pub(crate) fn put(&mut self, place: &Place, known: T) {
        if place.size.is_none_or(|size| size == 0) {
            return;
        }
        let groups = match place.root {
            Root::Private(object) => self.private.entry(object).or_default(),
            root @ (Root::Local(_) | Root::Exclusive(_)) => self.local.entry(root).or_default(),
            Root::Param(param) => self.params.entry(param).or_default(),
            root @ Root::Global(_) => self.globals.entry(root).or_default(),
            Root::Unknown => &mut self.unknown,
        };
        let group = groups.entry(place.anchor.clone()).or_default();
        forget_range(group, place);
        group.insert(place.offset, (place.end(), known));
    }

    /// Forgets all facts that a write to these bytes may change.
    pub(crate) fn forget(&mut self, place: &Place) {
        if let Some(groups) = self.groups(place.root) {
            forget_overlap(groups, place);
        }
        match place.root {
            Root::Private(_) => {}
            Root::Local(_) | Root::Exclusive(_) => self.unknown = Table::default(),
            Root::Param(own) => {
                self.params.retain(|param, _| *param == own);
                self.globals = Table::default();
                self.unknown = Table::default();
            }
            Root::Global(_) => {
                self.params.clear();
                self.unknown = Table::default();
            }
            Root::Unknown => {
                self.local = Table::default();
                self.params.clear();
                self.globals = Table::default();
            }
        }
    }

    /// Forgets all facts that code outside this function may change.
    pub(crate) fn forget_public(&mut self) {
        *self = Memory { private: std::mem::take(&mut self.private), ..Memory::default() };
    }

    /// The facts about the bytes of one root.
    fn groups(&mut self, root: Root) -> Option<&mut Groups<T>> {
        match root {
            Root::Private(object) => self.private.get_mut(&object),
            Root::Local(_) | Root::Exclusive(_) => self.local.get_mut(&root),
            Root::Param(param) => self.params.get_mut(&param),
            Root::Global(_) => self.globals.get_mut(&root),
            Root::Unknown => Some(&mut self.unknown),
        }
    }
}

/// Forgets facts about the same root that a write to these bytes may change. Emptied groups are dropped, because
/// clearing a table that was once large costs time in proportion to its capacity.
fn forget_overlap<T>(groups: &mut Groups<T>, place: &Place) {
    let Some(mut group) = groups.remove(&place.anchor) else {
        *groups = Table::default();
        return;
    };
    if !groups.is_empty() {
        *groups = Table::default();
    }
    if place.size.is_some() {
        forget_range(&mut group, place);
        groups.insert(place.anchor.clone(), group);
    }
}

/// Forgets facts about a range of bytes at one anchor.
fn forget_range<T>(group: &mut Group<T>, place: &Place) {
    while let Some((&start, _)) =
        group.range(..place.end()).next_back().filter(|(_, (end, _))| *end > place.offset)
    {
        group.remove(&start);
    }
}
