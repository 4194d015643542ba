//! Compiles a decision tree to eBPF for Linux's kernel, as text; it does what [`Tree::walk`] does. Unlike machine code
//! (`compile`) it has no tables: rows are in the code too, which is compiled anew whenever a filter is inserted or
//! removed.
//!
//! Linux's verifier follows each path until it reaches a place with no new knowledge. So paths that meet must look
//! alike to it, or each family of filters would multiply their number:
//! * the target that was found is an unknown number to it, because a number was added that is 0, which it can't know
//!   ([`NOTHING`]);
//! * the packet's address is loaded again for each branch of the tree, so that the verifier forgets what it knew of the
//!   length.

use alloc::{format, string::String, vec::Vec};
use core::fmt::Display;

use super::classifier::Classifier;
use super::table::Row;
use super::test::{Cell, Condition, Size, Test};
use super::tree::{Branch, Kind, Leaf, Look, Node, Tables, Tree};

/// The context: Linux's `struct xdp_md`.
const CONTEXT: &str = "%r6";
const PACKET: &str = "%r2";
const END: &str = "%r3";
/// The packet plus the length of the header that is [`Known::header`].
const BEHIND: &str = "%r1";
/// The value that was loaded last.
const VALUE: &str = "%r0";
const SCRATCH: &str = "%r5";
/// The rank of the row that was found; its target's number in the lower half.
const BEST: &str = "%r7";
/// A 0 that the verifier doesn't know.
const NOTHING: &str = "%r8";

/// The bytes of a packet that loads can reach.
const REACH: u32 = 32_000;

/// What is known of a packet at a place in the program.
#[derive(Clone, Copy, Default)]
struct Known {
    /// The packet has so many bytes.
    length: u32,
    /// The header that BEHIND is behind.
    header: Option<u32>,
    /// How many bytes more than that header the packet has.
    behind: u32,
    /// Whether a filter may have been found.
    found: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Label(usize);

impl Display for Label {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "way_{}", self.0)
    }
}

impl<T, M> Classifier<T, M> {
    /// The beginning of an XDP program, as text. Behind it, `%r6` is the context, and `%r7` the number of the packet's
    /// target, from 1, or 0 if no filter wants it. Its labels begin with `way_`.
    ///
    /// # Errors
    /// A filter has a program that can't be turned into tests, or looks at bytes beyond 32000; or there are more than
    /// 65535 alternatives.
    pub fn to_ebpf(&self, number: impl Fn(&T) -> u16) -> Result<String, String> {
        if !self.programs.is_empty() {
            return Err(
                "a filter is a program that can't be made tests of: Linux's kernel can't run it here".into(),
            );
        }
        let (tree, tables) = self.structure.parts();
        let targets = self.targets.iter().map(|target| target.as_ref().map_or(0, &number)).collect();
        let ranks = ranks(tables)?;
        let (text, labels, headers, is_near) = (String::new(), 0, 0, true);
        let mut this = Writer { text, labels, tables, targets, ranks, headers, is_near };
        this.begin();
        this.tree(tree, Known::default());
        this.op("and32", BEST, 0xffff);
        if !this.is_near {
            return Err(format!("a filter looks at bytes beyond {REACH}: there Linux's kernel can't"));
        }
        Ok(this.text)
    }
}

/// The ranks of all rows, in ascending order.
fn ranks(tables: Tables<'_>) -> Result<Vec<(u64, u64)>, String> {
    let chains = tables.tables.iter().flatten().flat_map(|table| table.chains());
    let rows = chains.flat_map(|(_, rows)| rows);
    let mut ranks: Vec<(u64, u64)> = rows.map(|row| rank(tables, row)).collect();
    ranks.sort_unstable();
    ranks.dedup();
    if ranks.len() > 0xffff {
        return Err(format!("filters with {} alternatives: Linux's kernel takes 65535", ranks.len()));
    }
    Ok(ranks)
}

fn rank(tables: Tables<'_>, row: Row<'_>) -> (u64, u64) {
    (row.weight(), tables.ages[row.target() as usize])
}

struct Writer<'a> {
    text: String,
    labels: usize,
    tables: Tables<'a>,
    /// The caller's numbers of targets.
    targets: Vec<u16>,
    ranks: Vec<(u64, u64)>,
    /// How often BEHIND is loaded.
    headers: usize,
    /// Checks that loads can reach all bytes that are looked at.
    is_near: bool,
}

impl<'a> Writer<'a> {
    fn line(&mut self, line: impl Display) {
        self.text.push_str(&format!("{line}\n"));
    }

    fn op(&mut self, name: &str, to: &str, what: impl Display) {
        self.line(format_args!("{name} {to}, {what}"));
    }

    fn jump_if(&mut self, name: &str, left: &str, right: impl Display, to: Label) {
        self.line(format_args!("{name} {left}, {right}, {to}"));
    }

    fn go(&mut self, to: Label) {
        self.line(format_args!("ja {to}"));
    }

    fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    fn land(&mut self, label: Label) {
        self.line(format_args!("{label}:"));
    }

    fn begin(&mut self) {
        self.op("mov", CONTEXT, "%r1");
        self.locate();
        self.op("mov", NOTHING, END);
        self.op("sub", NOTHING, PACKET);
        self.op("rsh", NOTHING, 32);
        self.op("mov32", BEST, NOTHING);
        self.op("add32", BEST, NOTHING);
    }

    fn locate(&mut self) {
        self.op("ldxw", PACKET, format_args!("[{CONTEXT}]"));
        self.op("ldxw", END, format_args!("[{CONTEXT}+4]"));
    }

    fn tree(&mut self, tree: &Tree, mut known: Known) {
        for (index, Branch { node, .. }) in tree.branches.iter().enumerate() {
            let highest = self.highest(node);
            let next = self.label();
            if index > 0 {
                self.unless_higher(highest, next);
                self.locate();
                known = Known { found: true, ..Known::default() };
            }
            self.node(node, known, next);
            self.land(next);
        }
    }

    /// The highest rank in a branch.
    fn highest(&self, node: &Node) -> u32 {
        let of_tree = |tree: &Tree| tree.branches.iter().map(|branch| self.highest(&branch.node)).max();
        let highest = match node {
            Node::Switch { cases, .. } => cases.iter().filter_map(|(_, tree)| of_tree(tree)).max(),
            Node::Check { then, .. } => of_tree(then),
            Node::Leaf(leaf) => {
                let rows = self.chains(leaf).into_iter().flat_map(|(_, rows)| rows);
                rows.map(|row| self.found(row)).max()
            }
        };
        highest.unwrap_or(0)
    }

    /// The rows of a leaf, by their keys.
    fn chains(&self, leaf: &Leaf) -> Vec<(&'a [u32], Vec<Row<'a>>)> {
        let table = self.tables.tables[leaf.table].as_ref();
        let mut chains = table.map(|table| table.chains()).unwrap_or_default();
        chains.sort_unstable_by_key(|(key, _)| *key);
        chains
    }

    /// The value of BEST for this row.
    fn found(&self, row: Row<'_>) -> u32 {
        let rank = self.ranks.partition_point(|rank| *rank < self::rank(self.tables, row)) as u32 + 1;
        rank << 16 | u32::from(self.targets[row.target() as usize])
    }

    /// Jumps if the row that was found has a higher rank than any to come.
    fn unless_higher(&mut self, found: u32, to: Label) {
        // A copy that Linux's verifier doesn't recognise, so that it learns nothing of BEST.
        self.op("mov32", SCRATCH, NOTHING);
        self.op("add32", SCRATCH, BEST);
        self.jump_if("jge32", SCRATCH, found, to);
    }

    fn node(&mut self, node: &Node, mut known: Known, miss: Label) {
        match node {
            Node::Switch { cell, mask, cases } => {
                self.load(*cell, *mask, &mut known, miss);
                let cases: Vec<(u32, &Tree)> =
                    cases.iter().map(|(value, tree)| (cell.as_loaded(*value), tree)).collect();
                self.switch(cases, miss, |this, tree| {
                    this.tree(tree, known);
                    this.go(miss);
                });
            }
            Node::Check { test, then } => {
                self.check(test, &mut known, miss);
                self.tree(then, known);
            }
            Node::Leaf(leaf) => self.leaf(leaf, known, miss),
        }
    }

    /// Does the case of VALUE, each of which ends with a jump to `miss`. Jumps there too if there is no such case.
    fn switch<C: Copy>(&mut self, cases: Vec<(u32, C)>, miss: Label, mut deed: impl FnMut(&mut Self, C)) {
        let mut cases: Vec<(u32, Label, C)> =
            cases.into_iter().map(|(value, case)| (value, self.label(), case)).collect();
        cases.sort_unstable_by_key(|(value, ..)| *value);
        self.choose(&cases, miss);
        for (_, label, case) in cases {
            self.land(label);
            deed(self, case);
        }
    }

    /// Jumps to the case of VALUE, in as many steps as its number has bits.
    fn choose<C>(&mut self, cases: &[(u32, Label, C)], miss: Label) {
        const FEW: usize = 4;
        let few = if cases.len() > FEW { cases.len() / 2..cases.len() / 2 + 1 } else { 0..cases.len() };
        for (value, label, _) in &cases[few.clone()] {
            self.jump_if("jeq32", VALUE, value, *label);
        }
        if cases.len() <= FEW {
            return self.go(miss);
        }
        let above = self.label();
        self.jump_if("jgt32", VALUE, cases[few.start].0, above);
        self.choose(&cases[..few.start], miss);
        self.land(above);
        self.choose(&cases[few.end..], miss);
    }

    fn check(&mut self, test: &Test, known: &mut Known, miss: Label) {
        let Test { cell, mask, condition } = *test;
        self.load(cell, mask, known, miss);
        match condition {
            Condition::Is(value) => self.jump_if("jne32", VALUE, cell.as_loaded(value), miss),
            Condition::IsNot(value) => self.jump_if("jeq32", VALUE, cell.as_loaded(value), miss),
            Condition::Between(low, high) => self.between(cell, (low, high), miss),
        }
    }

    fn between(&mut self, cell: Cell, (low, high): (u32, u32), miss: Label) {
        self.in_order(cell);
        self.jump_if("jlt32", VALUE, low, miss);
        self.jump_if("jgt32", VALUE, high, miss);
    }

    /// Loads the bits of a cell into VALUE, in the machine's byte order (little-endian).
    fn load(&mut self, cell: Cell, mask: u32, known: &mut Known, miss: Label) {
        self.reach(cell, known, miss);
        match cell {
            Cell::At { offset, size } => self.bytes(size, PACKET, offset),
            Cell::Behind { offset, size, .. } => self.bytes(size, BEHIND, offset),
            Cell::Length => {
                self.op("mov", VALUE, END);
                self.op("sub", VALUE, PACKET);
            }
        }
        if mask != cell.mask() {
            self.op("and32", VALUE, cell.as_loaded(mask));
        }
    }

    fn bytes(&mut self, size: Size, base: &str, offset: u32) {
        let name = match size {
            Size::Byte => "ldxb",
            Size::Half => "ldxh",
            Size::Word => "ldxw",
        };
        // Farther offsets are refused before.
        self.op(name, VALUE, format_args!("[{base}+{}]", offset.min(REACH)));
    }

    /// Checks that the packet has a cell, and computes BEHIND if the cell is behind a header. Changes no other register
    /// but SCRATCH.
    fn reach(&mut self, cell: Cell, known: &mut Known, miss: Label) {
        match cell {
            Cell::At { offset, size } => self.reach_byte(offset + size.bytes(), known, miss),
            Cell::Behind { header, offset, size } => {
                if known.header != Some(header) {
                    self.reach_byte(header + 1, known, miss);
                    self.op("ldxb", BEHIND, format_args!("[{PACKET}+{}]", header.min(REACH)));
                    self.op("and32", BEHIND, 15);
                    self.op("lsh32", BEHIND, 2);
                    self.op("add", BEHIND, PACKET);
                    self.headers += 1;
                    (known.header, known.behind) = (Some(header), 0);
                }
                let end = offset + size.bytes();
                if known.behind < end {
                    self.is_long_enough(BEHIND, end, miss);
                    known.behind = end;
                }
            }
            Cell::Length => {}
        }
    }

    fn reach_byte(&mut self, end: u32, known: &mut Known, miss: Label) {
        if known.length < end {
            self.is_long_enough(PACKET, end, miss);
            known.length = end;
        }
    }

    fn is_long_enough(&mut self, from: &str, bytes: u32, miss: Label) {
        self.is_near &= bytes <= REACH;
        self.op("mov", SCRATCH, from);
        self.op("add", SCRATCH, bytes);
        self.jump_if("jgt", SCRATCH, END, miss);
    }

    /// Changes VALUE to the byte order of the wire.
    fn in_order(&mut self, cell: Cell) {
        let (Cell::At { size, .. } | Cell::Behind { size, .. }) = cell else { return };
        match size {
            Size::Byte => {}
            Size::Half => self.line(format_args!("be16 {VALUE}")),
            Size::Word => self.line(format_args!("be32 {VALUE}")),
        }
    }

    fn leaf(&mut self, leaf: &Leaf, mut known: Known, miss: Label) {
        for look in leaf.keys.iter().chain(&leaf.checks) {
            self.reach(look.cell, &mut known, miss);
        }
        let chains = self.chains(leaf);
        self.keys(leaf, 0, &chains, known, miss);
    }

    /// Distinguishes rows by the words of their keys, from one on. Jumps to `miss` in the end.
    fn keys(&mut self, leaf: &Leaf, at: usize, chains: &[(&[u32], Vec<Row>)], mut known: Known, miss: Label) {
        let Some(look) = leaf.keys.get(at) else {
            let rows = chains.first().map_or(&[][..], |(_, rows)| rows);
            return self.rows(leaf, rows, known, miss);
        };
        self.load(look.cell, look.mask, &mut known, miss);
        let same = chains.chunk_by(|(a, _), (b, _)| a[at] == b[at]);
        let cases = same.map(|chains| (chains[0].0[at], chains)).collect();
        self.switch(cases, miss, |this, chains| this.keys(leaf, at + 1, chains, known, miss));
    }

    /// Takes the first of these rows whose checks all hold. Jumps to `miss` in the end.
    fn rows(&mut self, leaf: &Leaf, rows: &[Row], mut known: Known, miss: Label) {
        for row in rows {
            let (before, mut here, next) = (self.headers, known, self.label());
            for (index, look) in leaf.checks.iter().enumerate() {
                self.load(look.cell, look.mask, &mut here, next);
                self.compare(look, row.pair(index), next);
            }
            if self.headers != before {
                (known.header, known.behind) = (None, 0);
            }
            let found = self.found(*row);
            if known.found {
                self.unless_higher(found, miss);
            }
            self.op("mov32", BEST, NOTHING);
            self.op("add32", BEST, found);
            self.go(miss);
            if leaf.checks.is_empty() {
                // The other rows are unreachable, and Linux's verifier refuses unreachable code.
                return;
            }
            self.land(next);
        }
        self.go(miss);
    }

    fn compare(&mut self, look: &Look, pair: (u32, u32), miss: Label) {
        match look.kind {
            Kind::Is | Kind::Between => self.between(look.cell, pair, miss),
            Kind::IsNot => {
                self.in_order(look.cell);
                self.jump_if("jeq32", VALUE, pair.0, miss);
            }
        }
    }
}
