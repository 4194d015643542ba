//! The abstract memory: for each object, cells with values of the source program.
//!
//! An object is *held* while only the evaluator needs it: stores to it are not emitted, and a byte without a cell is
//! undefined. An object is *real* once it lies in the residual program's memory: every store to it is emitted, and a
//! cell records the known contents. A cell with a copy is the eager history of *copy elimination* (section 3.1): it
//! names the bytes of a real object that it equals, and never another copy.

use super::value::{ObjectId, Value};
use crate::account::Counted;
use crate::ir::{Const, ValueId};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The contents of a cell.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Held {
    /// The bytes of a value as it lies in memory, starting at this byte of it.
    Value(Value, u32),
    /// One byte, repeated.
    Fill(u8),
    /// The bytes at an offset of a real object.
    Copy(ObjectId, u64),
}

/// Adjacent bytes of an object.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Cell {
    pub size: u64,
    pub held: Held,
}

/// The known contents of an object.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Contents {
    /// The cells, by offset; they don't overlap.
    pub cells: Counted<BTreeMap<u64, Cell>>,
    /// Whether the object lies in the residual program's memory.
    pub real: bool,
    /// Whether unseen code may know the object's address.
    pub escaped: bool,
    /// The object's residual address, if that is not the same on all paths (allocated memory).
    pub base: Option<ValueId>,
}

impl Held {
    /// A part of the contents: `size` bytes after the first `skip`.
    fn part(&self, skip: u64, size: u64) -> Held {
        match self {
            Held::Value(Value::Const(Const::Int { value, .. }), start) if size <= 16 => {
                let shift = (u64::from(*start) + skip) * 8;
                let value = if shift >= 128 { 0 } else { value >> shift };
                Held::Value(Value::int(size as u32 * 8, value), 0)
            }
            Held::Value(value @ Value::Const(Const::Undef(_)), _) => Held::Value(value.clone(), 0),
            Held::Value(value, start) => Held::Value(value.clone(), start + skip as u32),
            Held::Fill(byte) => Held::Fill(*byte),
            Held::Copy(object, offset) => Held::Copy(*object, offset + skip),
        }
    }
}

impl Contents {
    /// Splits the cell that contains an offset, if it does not begin there.
    fn split(&mut self, at: u64) {
        let Some((start, cell)) = self.cells.elements().range_mut(..at).next_back() else { return };
        let (start, end) = (*start, *start + cell.size);
        if end <= at {
            return;
        }
        let right = Cell { size: end - at, held: cell.held.part(at - start, end - at) };
        let left = cell.held.part(0, at - start);
        *cell = Cell { size: at - start, held: left };
        self.cells.edit(|cells| cells.insert(at, right));
    }

    /// Forgets the contents of a range of bytes.
    pub fn forget(&mut self, offset: u64, size: u64) {
        let end = offset.saturating_add(size);
        self.split(offset);
        self.split(end);
        let inside: Vec<u64> = self.cells.range(offset..end).map(|(at, _)| *at).collect();
        if !inside.is_empty() {
            self.cells.edit(|cells| inside.iter().for_each(|at| drop(cells.remove(at))));
        }
    }

    /// Writes a cell.
    pub fn put(&mut self, offset: u64, size: u64, held: Held) {
        if size == 0 {
            return;
        }
        // The common case: there is a cell of the same place and size, or none at all.
        match self.cells.elements().range_mut(..offset.saturating_add(size)).next_back() {
            Some((at, cell)) if *at == offset && cell.size == size => {
                cell.held = held;
                return;
            }
            Some((at, cell)) if *at + cell.size <= offset => {}
            None => {}
            _ => self.forget(offset, size),
        }
        self.cells.edit(|cells| cells.insert(offset, Cell { size, held }));
    }

    /// The pieces of a range of bytes, in order: offset in the range, size, and contents.
    pub fn pieces(&self, offset: u64, size: u64) -> Vec<(u64, u64, Option<Held>)> {
        let end = offset + size;
        let mut pieces = Vec::new();
        let mut at = offset;
        let first = self.cells.range(..=offset).next_back().map_or(offset, |(start, _)| *start);
        for (start, cell) in self.cells.range(first..end) {
            let (from, to) = ((*start).max(offset), (*start + cell.size).min(end));
            if from >= to {
                continue;
            }
            if from > at {
                pieces.push((at - offset, from - at, None));
            }
            let held = if from == *start && to == *start + cell.size {
                cell.held.clone()
            } else {
                cell.held.part(from - start, to - from)
            };
            pieces.push((from - offset, to - from, Some(held)));
            at = to;
        }
        if at < end {
            pieces.push((at - offset, end - at, None));
        }
        pieces
    }
}

impl Contents {
    /// The first `size` bytes, if all are known numbers.
    pub fn bytes(&self, size: u64) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        for (_, size, held) in self.pieces(0, size) {
            match held? {
                Held::Fill(byte) => bytes.extend(std::iter::repeat_n(byte, size as usize)),
                Held::Value(Value::Const(Const::Int { value, .. }), start) => {
                    let all = value.to_le_bytes();
                    bytes.extend(all.get(start as usize..start as usize + size as usize)?);
                }
                _ => return None,
            }
        }
        Some(bytes)
    }

    /// Whether a cell contains this value.
    pub fn holds(&self, value: &Value) -> bool {
        self.cells.values().any(|cell| matches!(&cell.held, Held::Value(held, 0) if held == value))
    }

    /// Replaces a value by another.
    pub fn substitute(&mut self, old: &Value, new: &Value) {
        for cell in self.cells.elements().values_mut() {
            if matches!(&cell.held, Held::Value(held, 0) if held == old) {
                cell.held = Held::Value(new.clone(), 0);
            }
        }
    }

    /// Replaces all pointers to an object by a value.
    pub fn replace_pointers(&mut self, object: ObjectId, new: &Value) {
        for cell in self.cells.elements().values_mut() {
            if matches!(&cell.held, Held::Value(held, _) if held.object() == Some(object)) {
                cell.held = Held::Value(new.clone(), 0);
            }
        }
    }
}

/// The memory at one moment of the evaluation.
#[derive(Clone, Default)]
pub(super) struct Memory {
    objects: Counted<BTreeMap<ObjectId, Rc<Contents>>>,
    /// Objects of which cells may be copies; only for these are copies searched.
    copied: BTreeSet<ObjectId>,
}

impl Memory {
    /// The contents of an object; `None` if it does not exist (any more).
    pub fn get(&self, object: ObjectId) -> Option<&Contents> {
        self.objects.get(&object).map(|contents| &**contents)
    }

    /// The contents of an object, mutable.
    pub fn get_mut(&mut self, object: ObjectId) -> Option<&mut Contents> {
        self.objects.elements().get_mut(&object).map(Rc::make_mut)
    }

    /// Adds an object, or replaces its contents.
    pub fn insert(&mut self, object: ObjectId, contents: Contents) {
        self.objects.edit(|objects| objects.insert(object, Rc::new(contents)));
    }

    /// Removes an object.
    pub fn remove(&mut self, object: ObjectId) {
        self.objects.edit(|objects| objects.remove(&object));
    }

    /// All objects in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (ObjectId, &Contents)> {
        self.objects.iter().map(|(object, contents)| (*object, &**contents))
    }

    /// Records that a cell is a copy of an object.
    pub fn note_copy(&mut self, of: ObjectId) {
        self.copied.insert(of);
    }

    /// The cells that are copies of a range of an object's bytes: the holder, the offset there, the number of bytes.
    pub fn copies_of(&self, object: ObjectId, offset: u64, size: u64) -> Vec<(ObjectId, u64, u64)> {
        if !self.copied.contains(&object) {
            return Vec::new();
        }
        let end = offset.saturating_add(size);
        let mut found = Vec::new();
        for (holder, contents) in self.iter() {
            for (at, cell) in contents.cells.iter() {
                if let Held::Copy(origin, from) = cell.held
                    && origin == object
                    && from < end
                    && from + cell.size > offset
                {
                    found.push((holder, *at, cell.size));
                }
            }
        }
        found
    }
}
