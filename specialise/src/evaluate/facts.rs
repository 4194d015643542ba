//! The facts of a path, except for the values of its frames. `Machine` sees nothing else of a path.

use super::initial::Initial;
use super::memory::Memory;
use super::objects::{Identity, Objects};
use super::value::{ObjectId, Value};
use crate::account::Counted;
use crate::ir::{BlockId, ValueId};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The longest difference between two paths, in bytes, that becomes phis. If a difference is longer, the object becomes
/// real.
pub(super) const LONGEST_CELL: u64 = 64;

/// The facts of a path, and the block that receives its code.
#[derive(Clone)]
pub(super) struct Facts {
    pub memory: Memory,
    /// The open residual block that receives the path's code.
    pub block: BlockId,
    /// Allocated objects that are known not to be null.
    pub not_null: BTreeSet<ObjectId>,
    /// Values loaded through pointers of unknown origin that are still in memory there.
    pub seen: Rc<Counted<BTreeMap<ValueId, Value>>>,
    /// Values of the residual program that are known not to be zero or null.
    pub not_zero: Rc<Counted<BTreeSet<ValueId>>>,
}

impl Facts {
    /// The facts at the beginning of a path.
    pub fn new(memory: Memory, block: BlockId) -> Facts {
        Facts { memory, block, not_null: BTreeSet::new(), seen: Rc::default(), not_zero: Rc::default() }
    }

    /// Forgets all facts about an object that may have been written to.
    pub fn forget_all(&mut self, object: ObjectId, objects: &Objects, initial: &Initial) {
        if objects.origin(object).constant {
            return;
        }
        if let Some(contents) = self.memory.get(object)
            && contents.real
            && !contents.cells.is_empty()
            && let Some(contents) = self.memory.get_mut(object)
        {
            // Constant bytes of the context remain, even if other bytes of the variable are written.
            match initial.contents.get(&object) {
                Some(initial) => {
                    contents.cells.edit(|cells| cells.retain(|at, cell| initial.cells.get(at) == Some(cell)));
                }
                None => contents.cells.edit(|cells| cells.clear()),
            }
        }
    }

    /// The objects that a write through a pointer of unknown origin may touch.
    pub fn reachable(&self, objects: &Objects) -> Vec<ObjectId> {
        let escaped = self.memory.iter().filter(|(_, contents)| contents.escaped).map(|(object, _)| object);
        escaped.filter(|object| !objects.origin(*object).constant).collect()
    }

    /// The other objects that a write to this one may touch.
    pub fn overlapping(&self, object: ObjectId, objects: &Objects) -> Vec<ObjectId> {
        let escaped = self.memory.get(object).is_some_and(|contents| contents.escaped);
        if !escaped {
            return Vec::new();
        }
        let mut others = self.reachable(objects);
        others.retain(|other| *other != object && objects.may_overlap(object, *other));
        others
    }

    /// The allocated objects that are alive.
    pub fn allocations(&self, objects: &Objects) -> BTreeSet<ObjectId> {
        let all = self.memory.iter().map(|(object, _)| object);
        all.filter(|object| matches!(objects.identity(*object), Identity::Allocated(..))).collect()
    }

    /// The cells in which an object differs between two paths: offset and size.
    pub fn differing_cells(&self, other: &Facts, object: ObjectId) -> Vec<(u64, u64)> {
        let (Some(x), Some(y)) = (self.memory.get(object), other.memory.get(object)) else {
            return Vec::new();
        };
        if std::ptr::eq(x, y) || x.cells == y.cells {
            return Vec::new();
        }
        let mut bounds: Vec<u64> = Vec::new();
        for contents in [x, y] {
            bounds.extend(contents.cells.iter().flat_map(|(at, cell)| [*at, *at + cell.size]));
        }
        bounds.sort_unstable();
        bounds.dedup();
        let mut differing: Vec<(u64, u64)> = Vec::new();
        for pair in bounds.windows(2) {
            let (at, size) = (pair[0], pair[1] - pair[0]);
            if x.pieces(at, size) != y.pieces(at, size) {
                differing.push((at, size));
            }
        }
        // If both paths wrote these bytes as one value, the whole value differs.
        differing
            .into_iter()
            .flat_map(|(at, size)| {
                let mut steps = Vec::new();
                let mut done = 0;
                while done < size && size <= LONGEST_CELL {
                    let step = [8, 4, 2, 1].into_iter().find(|step| *step <= size - done).unwrap_or(1);
                    steps.push((at + done, step));
                    done += step;
                }
                if size > LONGEST_CELL { vec![(at, size)] } else { steps }
            })
            .collect()
    }

    /// Keeps only the facts that another path has too.
    pub fn forget_differences(&mut self, other: &Facts) {
        self.not_null = self.not_null.intersection(&other.not_null).copied().collect();
        if !Rc::ptr_eq(&self.not_zero, &other.not_zero) {
            let common = self.not_zero.intersection(&other.not_zero).copied().collect();
            self.not_zero = Rc::new(Counted::new(common));
        }
        if !Rc::ptr_eq(&self.seen, &other.seen) {
            let seen = Rc::make_mut(&mut self.seen);
            seen.edit(|seen| seen.retain(|pointer, value| other.seen.get(pointer) == Some(value)));
        }
        let objects: Vec<ObjectId> = self.memory.iter().map(|(object, _)| object).collect();
        for object in objects {
            let Some(theirs) = other.memory.get(object) else {
                self.memory.remove(object);
                continue;
            };
            let Some(mine) = self.memory.get(object) else { continue };
            if !mine.real || mine.cells == theirs.cells {
                continue;
            }
            let cells = theirs.cells.clone();
            if let Some(mine) = self.memory.get_mut(object) {
                mine.cells.edit(|mine| mine.retain(|at, cell| cells.get(at) == Some(cell)));
            }
        }
    }
}
