//! Joins adjacent stores of constants, and adjacent copies (loads whose values are only stored), into wider accesses.
//!
//! The accesses of a group move down to its last one. While a block is scanned, every access is compared with the open
//! groups. If it conflicts with a group, that group is closed, and no access of the group moves past the conflict.

mod copies;
mod fills;
mod pieces;
mod room;

pub(crate) use room::Swaps;

use super::calls::{Known, known_call};
use super::memory::{Addresses, Place};
use super::roots::Roots;
use super::surroundings::Surroundings;
use crate::ir::{Access, Body, Const, Instruction, Op, Operand, ValueId};
use copies::Copies;
use fills::{Constant, Fill, bits};
use pieces::{WIDTHS, range};
use room::Room;
use std::collections::BTreeMap;

/// The greatest number of open groups of stores; more would make a long block slow.
const OPEN: usize = 8;

/// The reader of the result.
#[derive(Clone, Copy)]
pub(crate) enum Reader {
    /// A C compiler. It vectorises stores of four-byte constants, but not of wider ones, and elements that are
    /// byte-swapped one by one.
    Compiler,
    /// The processor.
    Machine(Swaps),
}

impl Reader {
    /// The widths to which stores of constants are joined, the widest first.
    fn widths(self) -> &'static [i64] {
        match self {
            Reader::Compiler => &WIDTHS[1..],
            Reader::Machine(_) => &WIDTHS,
        }
    }

    /// The functions that swap bytes, if byte-swapped elements are joined.
    fn swaps(self) -> Option<Swaps> {
        match self {
            Reader::Compiler => None,
            Reader::Machine(swaps) => Some(swaps),
        }
    }
}

/// Widens the accesses of every block.
pub(crate) fn widen(body: &mut Body, around: &Surroundings, reader: Reader) {
    let roots = Roots::new(body, around);
    let mut uses = vec![0u32; body.types.len()];
    let mut addresses = Addresses::default();
    for block in &body.blocks {
        for instruction in &block.instructions {
            addresses.note(instruction.result, &instruction.op);
            instruction.op.operands().for_each(|operand| count(operand, &mut uses));
        }
        block.terminator.operand().into_iter().for_each(|operand| count(operand, &mut uses));
    }
    for at in 0..body.blocks.len() {
        let mut room = Room {
            old: std::mem::take(&mut body.blocks[at].instructions).into_iter().map(Some).collect(),
            before: BTreeMap::new(),
            swaps: reader.swaps(),
            body,
        };
        let mut scan = Scan {
            around,
            widths: reader.widths(),
            roots: &roots,
            addresses: &addresses,
            uses: &uses,
            fills: Vec::new(),
            copies: Copies::default(),
        };
        for position in 0..room.old.len() {
            scan.step(position, &mut room);
        }
        scan.settle_all(&mut room);
        body.blocks[at].instructions = room.written();
    }
}

/// Counts a use of a value.
fn count(operand: &Operand, uses: &mut [u32]) {
    if let Operand::Value(value) = operand {
        uses[value.0 as usize] += 1;
    }
}

/// The open groups at a point of a block.
struct Scan<'a> {
    /// The module.
    around: &'a Surroundings<'a>,
    /// The widths to which stores of constants are joined, the widest first.
    widths: &'static [i64],
    /// The objects that pointers point into.
    roots: &'a Roots,
    /// All addresses.
    addresses: &'a Addresses,
    /// The number of uses of each value.
    uses: &'a [u32],
    /// Groups of stores, the oldest first.
    fills: Vec<Fill>,
    /// The group of copies.
    copies: Copies,
}

impl Scan<'_> {
    /// Handles one instruction.
    fn step(&mut self, position: usize, room: &mut Room) {
        let Some(instruction) = &room.old[position] else { return };
        match &instruction.op {
            Op::Load { from, access: Access::Plain, .. } => {
                let place = self.addresses.access(from, &instruction.ty, self.roots);
                let loaded = self.single(instruction).map(|result| (result, instruction.ty.clone()));
                self.settle_fills(&place, room);
                self.copies.load(position, place, loaded, room);
            }
            Op::Store { value, to, access: Access::Plain, .. } => {
                let place = self.addresses.access(to, &room.body.type_of(value), self.roots);
                let (constant, value) = (bits(value), value.clone());
                self.settle_fills(&place, room);
                self.copies.store(position, &place, &value, room);
                if let Some(bits) = constant {
                    self.fill(place, Constant { position, bits }, room);
                }
            }
            Op::Load { .. }
            | Op::Store { .. }
            | Op::AtomicUpdate(..)
            | Op::CompareExchange(..)
            | Op::Fence => self.settle_all(room),
            op @ Op::Call { .. } if known_call(self.around.module, op) != Some(Known::Pure) => {
                self.settle_all(room);
            }
            op @ Op::Call { .. } => {
                if room.swaps.is_some()
                    && let (Some(value), Some(result)) = (self.swapped(op), self.single(instruction))
                {
                    self.copies.swap(position, value, result);
                }
            }
            _ => {}
        }
    }

    /// The result of an instruction, if it has exactly one use.
    fn single(&self, instruction: &Instruction) -> Option<ValueId> {
        instruction.result.filter(|result| self.uses.get(result.0 as usize) == Some(&1))
    }

    /// The value that a call byte-swaps, if two such calls can become one.
    fn swapped(&self, op: &Op) -> Option<ValueId> {
        let Op::Call { callee: Operand::Const(Const::Function(callee)), args, .. } = op else { return None };
        let name = &*self.around.module.functions[callee.0 as usize].name;
        match (name, &args[..]) {
            ("llvm.bswap.i16" | "llvm.bswap.i32", [Operand::Value(value)]) => Some(*value),
            _ => None,
        }
    }

    /// Adds a store of a constant to its group.
    fn fill(&mut self, place: Place, constant: Constant, room: &mut Room) {
        let Some((from, to)) = range(&place) else { return };
        if let Some(fill) = self.fills.iter_mut().find(|fill| fill.place.anchor == place.anchor) {
            fill.pieces.insert(from, (to, constant));
            return;
        }
        if self.fills.len() == OPEN {
            self.fills.remove(0).settle(self.widths, room);
        }
        self.fills.push(Fill { place, pieces: BTreeMap::from([(from, (to, constant))]) });
    }

    /// Writes the groups of stores with which an access conflicts.
    fn settle_fills(&mut self, place: &Place, room: &mut Room) {
        for fill in self.fills.extract_if(.., |fill| fill.clashes(place)) {
            fill.settle(self.widths, room);
        }
    }

    /// Writes all groups, because the next instruction may access any memory.
    fn settle_all(&mut self, room: &mut Room) {
        self.fills.drain(..).for_each(|fill| fill.settle(self.widths, room));
        self.copies.barrier(room);
    }
}
