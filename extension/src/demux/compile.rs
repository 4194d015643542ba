//! Compiles a decision tree to x86-64 code, which does what [`Tree::walk`] does. Constants on which a family's filters
//! agree are in the code; those in which they differ are in tables that it reads, so that it needn't change when only
//! these do.
//!
//! It is called as a `structure::Entry`. A bound of the packet that was checked is known in all code that is
//! only reached behind the check, so that no path checks it twice.

use alloc::vec::Vec;

use super::reference::Reference;
use super::table::{TableShape, row};
use super::test::{Cell, Condition, Size, Test};
use super::tree::{Branch, Kind, Leaf, Look, Node, Tree};
use crate::bytecode::Width;
use crate::engine::jit::x86::*;

const PACKET: Reg = RDI;
const LENGTH: Reg = RSI;
const TABLES: Reg = RDX;
/// The ages of targets. It is on the stack from the beginning.
const AGES: Reg = RCX;
/// The value that was loaded last.
const VALUE: Reg = RAX;
const SCRATCH: Reg = RCX;
/// The length of the header that is [`Known::header`].
const HEADER: Reg = R8;
/// The row with the highest rank so far.
const BEST: Reg = R9;
const HASH: Reg = R10;
/// A bucket, then a row.
const PLACE: Reg = R11;

/// What is known of a packet at a place in the code.
#[derive(Clone, Copy, Default)]
struct Known {
    /// The packet has so many bytes.
    length: u64,
    /// The header whose length is in HEADER.
    header: Option<u32>,
    /// How many bytes more than that header the packet has.
    behind: u64,
    /// Whether a filter may have been found.
    found: bool,
}

/// Jumps that are taken if a test fails.
type Misses = Vec<usize>;

struct Compiler {
    code: Code,
    /// The shape of each table.
    shapes: Vec<Option<TableShape>>,
    /// How often the length of a header is loaded.
    headers: usize,
}

/// Compiles a tree whose tables have these shapes. `None` if it has no leaf.
pub(super) fn compile(tree: &Tree, shapes: Vec<Option<TableShape>>) -> Option<Vec<u8>> {
    let first = tree.table()?;
    let mut this = Compiler { code: Code::default(), shapes, headers: 0 };
    this.code.push(AGES);
    // Row 0 of every table is none.
    this.code.load(BEST, rows_of(first));
    this.tree(tree, Known::default());
    this.code.memory(Width::W32, LOAD, RAX, target(BEST));
    this.code.load(RDX, weight(BEST));
    this.code.pop(AGES);
    this.code.ret();
    Some(this.code.bytes)
}

const LOAD: &[u8] = &[0x8b];
const ADD: &[u8] = &[0x03];
const AND: &[u8] = &[0x23];
/// Of a register with a place.
const COMPARE: &[u8] = &[0x3b];
const MULTIPLY: &[u8] = &[0x0f, 0xaf];

fn reference(table: usize) -> Place {
    Place::new(TABLES, (table * size_of::<Reference>()) as i32)
}

fn buckets_of(table: usize) -> Place {
    reference(table).plus(Reference::BUCKETS)
}

fn rows_of(table: usize) -> Place {
    reference(table).plus(Reference::ROWS)
}

fn mask_of(table: usize) -> Place {
    reference(table).plus(Reference::MASK)
}

fn weight(row: Reg) -> Place {
    Place::new(row, 8 * row::WEIGHT as i32)
}

/// The target's number, and behind it the next row.
fn target(row: Reg) -> Place {
    Place::new(row, 8 * row::TARGET_AND_NEXT as i32)
}

impl Compiler {
    fn tree(&mut self, tree: &Tree, mut known: Known) {
        let mut misses = Misses::new();
        let highest = tree.branches.first().map_or(0, |branch| branch.bound);
        for Branch { bound, node } in &tree.branches {
            // All code that jumps here has checked the highest bound.
            if *bound < highest {
                self.code.mov_number(VALUE, *bound);
                self.code.memory(Width::W64, COMPARE, VALUE, weight(BEST));
                misses.push(self.code.jump_if(If::Below));
            }
            let before = self.headers;
            self.node(node, known);
            known.found = true;
            if self.headers != before {
                (known.header, known.behind) = (None, 0);
            }
        }
        self.land(misses);
    }

    fn node(&mut self, node: &Node, mut known: Known) {
        let mut misses = Misses::new();
        match node {
            Node::Switch { cell, mask, cases } => {
                self.load(*cell, *mask, &mut known, &mut misses);
                self.switch(*cell, cases, known, &mut misses);
            }
            Node::Check { test, then } => {
                self.check(test, &mut known, &mut misses);
                self.tree(then, known);
            }
            Node::Leaf(leaf) => self.leaf(leaf, known, &mut misses),
        }
        self.land(misses);
    }

    fn land(&mut self, jumps: Vec<usize>) {
        for jump in jumps {
            self.code.land(jump);
        }
    }

    fn switch(&mut self, cell: Cell, cases: &[(u32, Tree)], known: Known, misses: &mut Misses) {
        let mut sorted: Vec<(u32, usize)> =
            (0..).zip(cases).map(|(at, case)| (cell.as_loaded(case.0), at)).collect();
        sorted.sort_unstable();
        if let [(value, _)] = sorted[..] {
            self.code.op_number(Width::W32, Op::Cmp, VALUE, value as i32);
            misses.push(self.code.jump_if(If::NotEqual));
            return self.tree(&cases[0].1, known);
        }
        let mut jumps = Vec::new();
        self.choose(&sorted, &mut jumps, misses);
        for (jump, at) in jumps {
            self.code.land(jump);
            self.tree(&cases[at].1, known);
            misses.push(self.code.jump());
        }
    }

    /// Jumps to the case of VALUE, in as many steps as its number has bits.
    fn choose(&mut self, cases: &[(u32, usize)], jumps: &mut Vec<(usize, usize)>, misses: &mut Misses) {
        const FEW: usize = 4;
        let few = if cases.len() > FEW { cases.len() / 2..cases.len() / 2 + 1 } else { 0..cases.len() };
        for (value, at) in &cases[few.clone()] {
            self.code.op_number(Width::W32, Op::Cmp, VALUE, *value as i32);
            jumps.push((self.code.jump_if(If::Equal), *at));
        }
        if cases.len() <= FEW {
            misses.push(self.code.jump());
            return;
        }
        let above = self.code.jump_if(If::Above);
        self.choose(&cases[..few.start], jumps, misses);
        self.code.land(above);
        self.choose(&cases[few.end..], jumps, misses);
    }

    fn check(&mut self, test: &Test, known: &mut Known, misses: &mut Misses) {
        let Test { cell, mask, condition } = *test;
        self.load(cell, mask, known, misses);
        match condition {
            Condition::Is(value) | Condition::IsNot(value) => {
                self.code.op_number(Width::W32, Op::Cmp, VALUE, cell.as_loaded(value) as i32);
                let is_not = matches!(condition, Condition::IsNot(_));
                misses.push(self.code.jump_if(if is_not { If::Equal } else { If::NotEqual }));
            }
            Condition::Between(low, high) => {
                self.in_order(cell);
                self.code.op_number(Width::W32, Op::Sub, VALUE, low as i32);
                self.code.op_number(Width::W32, Op::Cmp, VALUE, high.wrapping_sub(low) as i32);
                misses.push(self.code.jump_if(If::Above));
            }
        }
    }

    /// Loads the bits of a cell into VALUE, in the machine's byte order.
    fn load(&mut self, cell: Cell, mask: u32, known: &mut Known, misses: &mut Misses) {
        self.reach(cell, known, misses);
        match cell {
            Cell::At { offset, size } => self.bytes(size, Place::new(PACKET, offset as i32)),
            Cell::Behind { offset, size, .. } => {
                let index = Some((HEADER, 0));
                self.bytes(size, Place { base: PACKET, index, displacement: offset as i32 });
            }
            Cell::Length => self.code.mov(Width::W32, VALUE, LENGTH),
        }
        if mask != cell.mask() {
            self.code.op_number(Width::W32, Op::And, VALUE, cell.as_loaded(mask) as i32);
        }
    }

    fn bytes(&mut self, size: Size, place: Place) {
        let opcode: &[u8] = match size {
            Size::Byte => &[0x0f, 0xb6],
            Size::Half => &[0x0f, 0xb7],
            Size::Word => LOAD,
        };
        self.code.memory(Width::W32, opcode, VALUE, place);
    }

    /// Checks that the packet has a cell, and loads HEADER if the cell is behind a header. Changes no other register
    /// but SCRATCH.
    fn reach(&mut self, cell: Cell, known: &mut Known, misses: &mut Misses) {
        match cell {
            Cell::At { offset, size } => self.reach_byte(offset + size.bytes(), known, misses),
            Cell::Behind { header, offset, size } => {
                if known.header != Some(header) {
                    self.reach_byte(header + 1, known, misses);
                    self.code.memory(Width::W32, &[0x0f, 0xb6], HEADER, Place::new(PACKET, header as i32));
                    self.code.op_number(Width::W32, Op::And, HEADER, 15);
                    self.code.shift(Width::W32, Shift::Shl, HEADER, 2);
                    self.headers += 1;
                    (known.header, known.behind) = (Some(header), 0);
                }
                let end = u64::from(offset + size.bytes());
                if known.behind < end {
                    self.code.lea(Width::W64, SCRATCH, Place::new(HEADER, end as i32));
                    self.code.op(Width::W64, Op::Cmp, LENGTH, SCRATCH);
                    misses.push(self.code.jump_if(If::Below));
                    known.behind = end;
                    known.length = known.length.max(end);
                }
            }
            Cell::Length => {}
        }
    }

    fn reach_byte(&mut self, end: u32, known: &mut Known, misses: &mut Misses) {
        if known.length < end.into() {
            self.code.op_number(Width::W64, Op::Cmp, LENGTH, end as i32);
            misses.push(self.code.jump_if(If::Below));
            known.length = end.into();
        }
    }

    /// Changes VALUE to the byte order of the wire.
    fn in_order(&mut self, cell: Cell) {
        let (Cell::At { size, .. } | Cell::Behind { size, .. }) = cell else { return };
        if size == Size::Byte {
            return;
        }
        // bswap
        self.code.registers(Width::W32, &[0x0f], Reg(1), VALUE);
        if size == Size::Half {
            self.code.shift(Width::W32, Shift::Shr, VALUE, 16);
        }
    }

    fn leaf(&mut self, leaf: &Leaf, mut known: Known, misses: &mut Misses) {
        let shape = self.shapes[leaf.table].expect("a leaf has a table");
        assert_eq!((shape.key, shape.pairs), (leaf.keys.len(), leaf.checks.len()), "the table is another's");
        let is_mixed = headers(leaf) > 1;
        for look in leaf.keys.iter().chain(&leaf.checks) {
            self.reach(look.cell, &mut known, misses);
        }
        self.find(leaf, shape, is_mixed, &mut known, misses);
        let again = self.code.here();
        if is_mixed {
            known.header = None;
        }
        self.code.load(PLACE, rows_of(leaf.table));
        self.code.lea(Width::W64, PLACE, Place { base: PLACE, index: Some((SCRATCH, 3)), displacement: 0 });
        let mut others = Misses::new();
        for (index, look) in leaf.checks.iter().enumerate() {
            self.load(look.cell, look.mask, &mut known, misses);
            self.in_order(look.cell);
            let pair = Place::new(PLACE, 8 * (row::PAIRS + index) as i32);
            self.code.memory(Width::W32, COMPARE, VALUE, pair);
            others.push(self.code.jump_if(if look.kind == Kind::IsNot { If::Equal } else { If::Below }));
            if look.kind == Kind::Between {
                self.code.memory(Width::W32, COMPARE, VALUE, pair.plus(4));
                others.push(self.code.jump_if(If::Above));
            }
        }
        if known.found {
            self.skip_unless_higher(misses);
        }
        self.code.mov(Width::W64, BEST, PLACE);
        if !others.is_empty() {
            misses.push(self.code.jump());
            self.land(others);
            self.code.memory(Width::W32, LOAD, SCRATCH, target(PLACE).plus(4));
            self.code.test(Width::W32, SCRATCH, SCRATCH);
            let next = self.code.jump_if(If::NotEqual);
            self.code.patch(next, again);
        }
    }

    /// Looks the packet's key up: puts the first row of its chain into SCRATCH.
    fn find(
        &mut self,
        leaf: &Leaf,
        shape: TableShape,
        is_mixed: bool,
        known: &mut Known,
        misses: &mut Misses,
    ) {
        if leaf.keys.is_empty() {
            self.code.load(PLACE, buckets_of(leaf.table));
            // There are rows, or there would be no leaf.
            return self.code.memory(Width::W32, LOAD, SCRATCH, Place::new(PLACE, 0));
        }
        self.hash(&leaf.keys, shape, known, misses);
        let again = self.code.here();
        self.code.op_number(Width::W32, Op::Add, HASH, 1);
        self.code.memory(Width::W32, AND, HASH, mask_of(leaf.table));
        self.code.mov(Width::W64, PLACE, HASH);
        let bytes = 4 * shape.bucket();
        self.code.shift(Width::W64, Shift::Shl, PLACE, bytes.trailing_zeros() as u8);
        self.code.memory(Width::W64, ADD, PLACE, buckets_of(leaf.table));
        let word = |index: usize| Place::new(PLACE, 4 * index as i32);
        let chain = word(leaf.keys.len());
        self.code.memory(Width::W32, LOAD, SCRATCH, chain);
        self.code.test(Width::W32, SCRATCH, SCRATCH);
        misses.push(self.code.jump_if(If::Equal));
        if is_mixed {
            known.header = None;
        }
        for (index, look) in leaf.keys.iter().enumerate() {
            if leaf.keys.len() > 1 {
                self.load(look.cell, look.mask, known, misses);
            }
            self.code.memory(Width::W32, COMPARE, VALUE, word(index));
            let next = self.code.jump_if(If::NotEqual);
            self.code.patch(next, again);
        }
        if is_mixed {
            self.code.memory(Width::W32, LOAD, SCRATCH, chain);
        }
    }

    /// Computes the key. A key of one word is left in VALUE.
    fn hash(&mut self, keys: &[Look], shape: TableShape, known: &mut Known, misses: &mut Misses) {
        for (index, look) in keys.iter().enumerate() {
            self.load(look.cell, look.mask, known, misses);
            let product = if index == 0 { HASH } else { PLACE };
            self.code.mov_number(product, shape.factor(index));
            self.code.registers(Width::W64, MULTIPLY, product, VALUE);
            if index > 0 {
                self.code.op(Width::W64, Op::Add, HASH, PLACE);
            }
        }
        self.code.shift(Width::W64, Shift::Shr, HASH, 32);
    }

    fn skip_unless_higher(&mut self, misses: &mut Misses) {
        self.code.load(VALUE, weight(PLACE));
        self.code.memory(Width::W64, COMPARE, VALUE, weight(BEST));
        misses.push(self.code.jump_if(If::Below));
        let higher = self.code.jump_if(If::Above);
        self.code.load(HASH, Place::new(RSP, 0));
        self.code.memory(Width::W32, LOAD, VALUE, target(PLACE));
        self.code.memory(Width::W32, LOAD, SCRATCH, target(BEST));
        let age = |target| Place { base: HASH, index: Some((target, 3)), displacement: 0 };
        self.code.load(VALUE, age(VALUE));
        self.code.memory(Width::W64, COMPARE, VALUE, age(SCRATCH));
        misses.push(self.code.jump_if(If::BelowOrEqual));
        self.code.land(higher);
    }
}

/// How many headers the offsets of fields depend on.
fn headers(leaf: &Leaf) -> usize {
    let header = |look: &Look| match look.cell {
        Cell::Behind { header, .. } => Some(header),
        _ => None,
    };
    let mut headers: Vec<u32> = leaf.keys.iter().chain(&leaf.checks).filter_map(header).collect();
    headers.sort_unstable();
    headers.dedup();
    headers.len()
}
