//! Stores of constants, and loads that are stored at once, become wider ones where they lie side by side.
//!
//! All accesses of a group move down, to where its last one stands. On the way through a block every access is held
//! against the groups that are open; a group that it clashes with is settled, and nothing of it moves past the access.

mod copies;

use super::calls::{Known, known_call};
use super::memory::{Addresses, Place};
use super::roots::Roots;
use super::surroundings::Surroundings;
use crate::ir::{Access, Body, Const, Effects, FunctionId, Instruction, Module, Op, Operand, Type, ValueId};
use copies::Copies;
use std::collections::BTreeMap;

/// Groups of stores that are open at a time; more would make a long block slow.
const OPEN: usize = 8;

/// The widths in bytes that accesses are joined to.
const WIDTHS: [i64; 3] = [8, 4, 2];

/// Who reads what comes out.
#[derive(Clone, Copy)]
pub(crate) enum Reader {
    /// A C compiler. It makes vectors of constants of four bytes, but not of wider ones, and of elements whose bytes
    /// are swapped one by one.
    Compiler,
    /// The processor.
    Machine(Swaps),
}

/// What swaps the bytes of a value.
#[derive(Clone, Copy)]
pub(crate) struct Swaps {
    /// `llvm.bswap.i32`.
    four: FunctionId,
    /// `llvm.bswap.i64`.
    eight: FunctionId,
}

impl Swaps {
    /// Finds the functions in a module, or declares them there.
    pub(crate) fn declare(module: &mut Module) -> Swaps {
        let mut swap = |bits: u32| {
            let ty = Type::Int(bits);
            module.declare(
                &format!("llvm.bswap.i{bits}"),
                std::slice::from_ref(&ty),
                ty.clone(),
                Effects::None,
            )
        };
        Swaps { four: swap(32), eight: swap(64) }
    }

    /// The one for so many bits.
    fn of(self, bits: u32) -> FunctionId {
        if bits == 32 { self.four } else { self.eight }
    }
}

impl Reader {
    /// How wide stores of constants become, the widest first.
    fn widths(self) -> &'static [i64] {
        match self {
            Reader::Compiler => &WIDTHS[1..],
            Reader::Machine(_) => &WIDTHS,
        }
    }

    /// What swaps bytes, if elements whose bytes are swapped are joined.
    fn swaps(self) -> Option<Swaps> {
        match self {
            Reader::Compiler => None,
            Reader::Machine(swaps) => Some(swaps),
        }
    }
}

/// Does it in every block.
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

/// The instructions of the block, with gaps where one has gone, and where new values get their types.
struct Room<'a> {
    /// The instructions.
    old: Vec<Option<Instruction>>,
    /// New ones, by the position of what they stand before.
    before: BTreeMap<usize, Vec<Instruction>>,
    /// What swaps bytes, if elements whose bytes are swapped are joined.
    swaps: Option<Swaps>,
    /// The function, without this block's instructions.
    body: &'a mut Body,
}

impl Room<'_> {
    /// A new value.
    fn value(&mut self, ty: Type) -> ValueId {
        self.body.new_value(ty)
    }

    /// Computes something before the instruction at a position.
    fn compute(&mut self, position: usize, ty: &Type, op: Op) -> Operand {
        let place = self.old[position].as_ref().and_then(|instruction| instruction.place);
        let (instruction, result) = self.body.computing(ty.clone(), op, place);
        self.before.entry(position).or_default().push(instruction);
        result
    }

    /// What is in the block now.
    fn written(mut self) -> Vec<Instruction> {
        let mut written = Vec::with_capacity(self.old.len());
        for (at, old) in self.old.into_iter().enumerate() {
            written.extend(self.before.remove(&at).into_iter().flatten());
            written.extend(old);
        }
        written
    }
}

/// The accesses of a group, by offset: where the bytes end, and the access.
type Pieces<T> = BTreeMap<i64, (i64, T)>;

/// Whether one of the pieces overlaps these bytes.
fn overlaps<T>(pieces: &Pieces<T>, from: i64, to: i64) -> bool {
    pieces.range(..to).next_back().is_some_and(|(_, (end, _))| *end > from)
}

/// Cuts what lies without a gap into parts that are as wide as an access can be; only parts of several pieces are
/// given.
fn parts<T: Copy>(pieces: &Pieces<T>, widths: &[i64]) -> Vec<(i64, Vec<(i64, T)>)> {
    let all: Vec<(i64, i64, T)> = pieces.iter().map(|(start, (end, piece))| (*start, *end, *piece)).collect();
    let mut parts = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let start = all[at].0;
        let joined = widths.iter().find_map(|width| {
            let mut end = start;
            let mut next = at;
            while next < all.len() && all[next].0 == end && end < start + width {
                end = all[next].1;
                next += 1;
            }
            (end == start + width && next > at + 1).then_some((*width, next))
        });
        match joined {
            Some((width, next)) => {
                parts.push((width, all[at..next].iter().map(|(start, _, piece)| (*start, *piece)).collect()));
                at = next;
            }
            None => at += 1,
        }
    }
    parts
}

/// A store of a constant.
#[derive(Clone, Copy)]
struct Constant {
    /// Where it stands in the block.
    position: usize,
    /// What it stores.
    bits: u64,
}

/// Stores of constants at one anchor.
struct Fill {
    /// Where the first one goes.
    place: Place,
    /// The stores.
    pieces: Pieces<Constant>,
}

impl Fill {
    /// Whether an access touches what is stored.
    fn clashes(&self, place: &Place) -> bool {
        match (place.anchor == self.place.anchor, range(place)) {
            (true, Some((from, to))) => overlaps(&self.pieces, from, to),
            _ => self.place.root.may_alias(place.root),
        }
    }

    /// Makes wider stores of them.
    fn settle(self, widths: &[i64], room: &mut Room) {
        for (width, part) in parts(&self.pieces, widths) {
            let start = part[0].0;
            let bits = part.iter().fold(0, |bits, (at, piece)| bits | piece.bits << ((at - start) * 8));
            let last = part.iter().map(|(_, piece)| piece.position).max().unwrap_or_default();
            let first = room.old[part[0].1.position].clone();
            part.iter().for_each(|(_, piece)| room.old[piece.position] = None);
            room.old[last] = first.map(|mut store| {
                if let Op::Store { value, .. } = &mut store.op {
                    *value = Operand::Const(Const::int(width as u32 * 8, u128::from(bits)));
                }
                store
            });
        }
    }
}

/// The bytes of a place, from its anchor on.
fn range(place: &Place) -> Option<(i64, i64)> {
    let size = i64::try_from(place.size?).ok()?;
    Some((place.offset, place.offset.checked_add(size)?))
}

/// The little-endian bits of a constant of at most eight bytes.
fn bits(value: &Operand) -> Option<u64> {
    match value {
        Operand::Const(Const::Int { bits: 8 | 16 | 32 | 64, value }) => Some(*value as u64),
        Operand::Const(Const::Float(bits)) => Some(u64::from(*bits)),
        Operand::Const(Const::Zero(Type::Int(8 | 16 | 32 | 64))) => Some(0),
        _ => None,
    }
}

/// What is open on the way through a block.
struct Scan<'a> {
    /// The module.
    around: &'a Surroundings<'a>,
    /// How wide stores of constants become, the widest first.
    widths: &'static [i64],
    /// What pointers point into.
    roots: &'a Roots,
    /// All addresses.
    addresses: &'a Addresses,
    /// How often each value is used.
    uses: &'a [u32],
    /// Groups of stores, the oldest first.
    fills: Vec<Fill>,
    /// The group of copies.
    copies: Copies,
}

impl Scan<'_> {
    /// Goes past one instruction.
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

    /// The result of an instruction if it is used just once.
    fn single(&self, instruction: &Instruction) -> Option<ValueId> {
        instruction.result.filter(|result| self.uses.get(result.0 as usize) == Some(&1))
    }

    /// The value whose bytes a call swaps, if two such calls can become one.
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

    /// Settles the groups of stores that an access clashes with.
    fn settle_fills(&mut self, place: &Place, room: &mut Room) {
        for fill in self.fills.extract_if(.., |fill| fill.clashes(place)) {
            fill.settle(self.widths, room);
        }
    }

    /// Settles everything: what comes may touch any memory.
    fn settle_all(&mut self, room: &mut Room) {
        self.fills.drain(..).for_each(|fill| fill.settle(self.widths, room));
        self.copies.barrier(room);
    }
}
