//! What is known about bytes of memory at a point of a block, and what an access takes from that knowledge. Every
//! entry is taken out at most once, so a block costs no more than it has accesses.

use super::roots::{Root, Roots};
use crate::ir::{Op, Operand, Type, ValueId};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// An address without its constant part.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Anchor {
    /// Where it starts.
    pub(crate) base: Operand,
    /// What is added: index and bytes for each step of it.
    pub(crate) terms: Rc<[(Operand, i64)]>,
}

/// The bytes of an access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    /// What the address is relative to.
    pub(crate) anchor: Anchor,
    /// What the address points into.
    pub(crate) root: Root,
    /// The first byte, from the anchor on.
    pub(crate) offset: i64,
    /// How many bytes; none if that isn't known.
    pub(crate) size: Option<u64>,
}

impl Place {
    /// The byte after the last one.
    fn end(&self) -> i64 {
        self.size
            .and_then(|size| i64::try_from(size).ok())
            .map_or(i64::MAX, |size| self.offset.saturating_add(size))
    }

    /// Whether an access there may touch the bytes of another.
    pub(crate) fn clashes(&self, other: &Place) -> bool {
        if self.anchor == other.anchor && self.size.is_some() && other.size.is_some() {
            return self.offset < other.end() && other.offset < self.end();
        }
        self.root.may_alias(other.root)
    }
}

/// The addresses that were computed so far, by value, for taking pointers apart.
#[derive(Default)]
pub(crate) struct Addresses {
    /// Base, offset and terms of what is an address.
    known: HashMap<ValueId, (Operand, i64, Rc<[(Operand, i64)]>)>,
    /// No terms, shared.
    none: Rc<[(Operand, i64)]>,
}

impl Addresses {
    /// Remembers what an instruction computes if it is an address.
    pub(crate) fn note(&mut self, result: Option<ValueId>, op: &Op) {
        if let (Some(result), Op::Address { base, offset, terms }) = (result, op) {
            let terms = if terms.is_empty() { self.none.clone() } else { terms.as_slice().into() };
            self.known.insert(result, (base.clone(), *offset, terms));
        }
    }

    /// Base, offset and terms of a pointer.
    pub(crate) fn parts(&self, pointer: &Operand) -> (Operand, i64, Rc<[(Operand, i64)]>) {
        use crate::ir::Const;
        match pointer {
            Operand::Value(value) => match self.known.get(value) {
                Some(parts) => parts.clone(),
                None => (pointer.clone(), 0, self.none.clone()),
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

/// What is known of the bytes at one anchor: by offset, with the end. The ranges don't overlap.
type Group<T> = BTreeMap<i64, (i64, T)>;

/// What is known of the bytes of one root.
type Groups<T> = HashMap<Anchor, Group<T>>;

/// What is known of memory; roots that an access may reach together are kept together.
pub(crate) struct Memory<T> {
    /// By private object.
    private: HashMap<ValueId, Groups<T>>,
    /// By object of this function's whose address has gone somewhere.
    local: HashMap<Root, Groups<T>>,
    /// By parameter.
    params: HashMap<ValueId, Groups<T>>,
    /// By global variable.
    globals: HashMap<Root, Groups<T>>,
    /// Through pointers of which nothing is known.
    unknown: Groups<T>,
}

impl<T> Default for Memory<T> {
    fn default() -> Memory<T> {
        Memory {
            private: HashMap::new(),
            local: HashMap::new(),
            params: HashMap::new(),
            globals: HashMap::new(),
            unknown: HashMap::new(),
        }
    }
}

impl<T> Memory<T> {
    /// What is known of exactly these bytes.
    pub(crate) fn at(&mut self, place: &Place) -> Option<&T> {
        let (end, known) = self.groups(place.root)?.get(&place.anchor)?.get(&place.offset)?;
        (place.size.is_some() && *end == place.end()).then_some(known)
    }

    /// Remembers something of these bytes, in the place of what was known of them.
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

    /// Forgets all that a write to these bytes may change.
    pub(crate) fn forget(&mut self, place: &Place) {
        if let Some(groups) = self.groups(place.root) {
            forget_overlap(groups, place);
        }
        match place.root {
            Root::Private(_) => {}
            Root::Local(_) | Root::Exclusive(_) => self.unknown = HashMap::new(),
            Root::Param(own) => {
                self.params.retain(|param, _| *param == own);
                self.globals = HashMap::new();
                self.unknown = HashMap::new();
            }
            Root::Global(_) => {
                self.params.clear();
                self.unknown = HashMap::new();
            }
            Root::Unknown => {
                self.local = HashMap::new();
                self.params.clear();
                self.globals = HashMap::new();
            }
        }
    }

    /// Forgets all that may be changed by somebody else.
    pub(crate) fn forget_public(&mut self) {
        *self = Memory { private: std::mem::take(&mut self.private), ..Memory::default() };
    }

    /// What is known of the bytes of one root.
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

/// Forgets what a write to these bytes may change in what has the same root. What is emptied gives its room back:
/// clearing a table that was once large costs its size.
fn forget_overlap<T>(groups: &mut Groups<T>, place: &Place) {
    let Some(mut group) = groups.remove(&place.anchor) else {
        *groups = HashMap::new();
        return;
    };
    if !groups.is_empty() {
        *groups = HashMap::new();
    }
    if place.size.is_some() {
        forget_range(&mut group, place);
        groups.insert(place.anchor.clone(), group);
    }
}

/// Forgets what is known of bytes at one anchor.
fn forget_range<T>(group: &mut Group<T>, place: &Place) {
    while let Some((&start, _)) =
        group.range(..place.end()).next_back().filter(|(_, (end, _))| *end > place.offset)
    {
        group.remove(&start);
    }
}
