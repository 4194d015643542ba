//! Abstract stack frames.

use alloc::{rc::Rc, vec::Vec};

use super::value::{Kind, Value};
use crate::FRAME;

/// Cells of eight bytes, from r10 down. What lies below the last was never written. Equal frames are shared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame(Option<Rc<Vec<Cell>>>);

/// Eight bytes of a stack frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    /// The value that was stored last, at `at`, with `bytes` bytes. If `bytes` is 0: the join of all that written bytes
    /// may hold.
    value: Value,
    at: u8,
    bytes: u8,
    /// A bit for each byte that was written.
    set: u8,
}

const EMPTY: Cell = Cell { value: Value::UNSET, at: 0, bytes: 0, set: 0 };

/// Why bytes can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// The byte at this distance from r10 was never written.
    Unset(i64),
    /// A pointer, or part of one, is at this distance.
    Pointer(i64),
}

/// The cell of a distance from r10, which is negative, and the index of the byte in it.
fn place(distance: i64) -> (usize, u8) {
    let from_bottom = (distance + FRAME as i64) as usize;
    ((FRAME - 1 - from_bottom) / 8, (from_bottom % 8) as u8)
}

/// A mask of bytes of a cell.
fn mask(at: u8, bytes: u8) -> u8 {
    ((0xffu16 >> (8 - bytes)) << at) as u8
}

impl Frame {
    fn cells(&self) -> &[Cell] {
        self.0.as_ref().map_or(&[], |cells| cells)
    }

    fn cell(&self, index: usize) -> &Cell {
        self.cells().get(index).unwrap_or(&EMPTY)
    }

    fn cell_mut(&mut self, index: usize) -> &mut Cell {
        let cells = Rc::make_mut(self.0.get_or_insert_default());
        if cells.len() <= index {
            cells.resize(index + 1, EMPTY);
        }
        &mut cells[index]
    }

    /// Reads 1, 2, 4 or 8 bytes at some distance from r10 within a range. All of them are in the frame.
    pub fn load(&self, first: i64, last: i64, bytes: usize) -> Result<Value, Unreadable> {
        let (index, at) = place(first);
        let bytes = bytes as u8;
        if first == last && at + bytes <= 8 {
            let cell = self.cell(index);
            if (cell.at, cell.bytes) == (at, bytes) {
                return Ok(cell.value);
            }
            if cell.set & mask(at, bytes) != mask(at, bytes) {
                let missing = (at..at + bytes).find(|byte| cell.set & 1 << byte == 0).unwrap_or(at);
                return Err(Unreadable::Unset(first + i64::from(missing - at)));
            }
            return Ok(match cell.value.tells_address() {
                true => Value::MIXED,
                false => Value::of_bytes(bytes.into()),
            });
        }
        match self.readable(first, last + i64::from(bytes), Value::tells_address) {
            Err(Unreadable::Pointer(_)) => Ok(Value::MIXED),
            Err(unset) => Err(unset),
            Ok(()) => Ok(Value::of_bytes(bytes.into())),
        }
    }

    /// Checks that the bytes from one distance to another were written, and hold no secret address.
    pub fn readable(&self, from: i64, to: i64, secret: impl Fn(&Value) -> bool) -> Result<(), Unreadable> {
        let mut pointer = None;
        for distance in from..to {
            let (index, at) = place(distance);
            let cell = self.cell(index);
            if cell.set & 1 << at == 0 {
                return Err(Unreadable::Unset(distance));
            }
            if secret(&cell.value) {
                pointer.get_or_insert(distance);
            }
        }
        pointer.map_or(Ok(()), |distance| Err(Unreadable::Pointer(distance)))
    }

    /// Writes 1, 2, 4 or 8 bytes at some distance from r10 within a range. Returns which cells changed.
    pub fn store(&mut self, first: i64, last: i64, bytes: usize, value: Value) -> u64 {
        let (index, at) = place(first);
        if first == last && usize::from(at) + bytes <= 8 {
            self.cell_mut(index).store(at, bytes as u8, value);
            return 1 << index;
        }
        let sure = if first == last { bytes as i64 } else { 0 };
        self.smear(first, last + bytes as i64, sure, value.tells_address())
    }

    /// Notes that unknown bytes were written between two distances, of which the first were surely written.
    pub fn smear(&mut self, from: i64, to: i64, sure: i64, pointer: bool) -> u64 {
        let mut changed = 0;
        for distance in from..to {
            let (index, at) = place(distance);
            changed |= 1 << index;
            // Cells that were never written have no value to change.
            if distance < from + sure || index < self.cells().len() {
                self.cell_mut(index).smear(at, distance < from + sure, pointer);
            }
        }
        changed
    }

    /// Takes the changed cells of another frame.
    pub fn take_over(&mut self, changed: u64, from: &Frame) {
        for index in (0..64).filter(|index| changed & 1 << index != 0) {
            *self.cell_mut(index) = *from.cell(index);
        }
    }

    /// Merges another frame, cell by cell. Returns whether this one changed.
    pub fn merge(&mut self, other: &Frame, combine: impl Fn(&Value, &Value) -> Value) -> bool {
        match (&self.0, &other.0) {
            (Some(mine), Some(others)) if Rc::ptr_eq(mine, others) => return false,
            (None, _) => return false,
            _ => {}
        }
        let mut changed = false;
        for index in 0..self.cells().len() {
            let merged = self.cells()[index].merge(other.cell(index), &combine);
            if merged != self.cells()[index] {
                *self.cell_mut(index) = merged;
                changed = true;
            }
        }
        changed
    }

    /// The values in the frame, by their distance from r10, with the bytes that were written.
    #[cfg(test)]
    pub fn written(&self) -> impl Iterator<Item = (i64, usize, &Value, u8)> {
        self.cells().iter().enumerate().map(|(index, cell)| {
            let first = -8 * (index as i64 + 1);
            (first + i64::from(cell.at), cell.bytes.into(), &cell.value, cell.set)
        })
    }

    /// Changes the values that fulfil a condition.
    pub fn change(&mut self, which: impl Fn(&Value) -> bool, mut change: impl FnMut(&mut Value)) {
        for index in 0..self.cells().len() {
            if which(&self.cells()[index].value) {
                change(&mut self.cell_mut(index).value);
            }
        }
    }
}

impl Cell {
    fn store(&mut self, at: u8, bytes: u8, value: Value) {
        let written = mask(at, bytes);
        if self.value.tells_address() {
            // The rest of an overwritten pointer is useless: compilers reuse its bytes. So it counts as never written.
            self.set = 0;
        }
        self.set |= written;
        if value.tells_address() && bytes < 8 {
            (self.value, self.at, self.bytes) = (Value::MIXED, 0, 0);
            return;
        }
        self.value = match value.kind {
            Kind::Number if bytes < 8 => {
                let number = value.number.low(8 * u32::from(bytes));
                if number == value.number { value } else { Value::number(number) }
            }
            _ if bytes < 8 => Value::of_bytes(bytes.into()),
            _ => value,
        };
        (self.at, self.bytes) = (at, bytes);
    }

    fn smear(&mut self, at: u8, surely: bool, pointer: bool) {
        let may_tell = pointer || self.value.tells_address();
        self.value = if may_tell { Value::MIXED } else { Value::ANY_NUMBER };
        self.bytes = 0;
        self.at = 0;
        if surely {
            self.set |= 1 << at;
        }
    }

    fn merge(&self, other: &Cell, combine: impl Fn(&Value, &Value) -> Value) -> Cell {
        let set = self.set & other.set;
        if set == 0 {
            return EMPTY;
        }
        if (self.at, self.bytes) == (other.at, other.bytes) {
            let value = combine(&self.value, &other.value);
            // One path has no whole value here: the join of the written bytes.
            let value = if value.kind == Kind::Unset { Value::MIXED } else { value };
            return Cell { value, set, ..*self };
        }
        let pointer = self.value.tells_address() || other.value.tells_address();
        let value = if pointer { Value::MIXED } else { Value::ANY_NUMBER };
        Cell { value, at: 0, bytes: 0, set }
    }
}
