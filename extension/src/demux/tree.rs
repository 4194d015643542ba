//! The decision tree. Its branches are the tests in which the members of families agree; at a leaf is the [`Table`] of
//! the values in which the members of a family differ.

use alloc::{sync::Arc, vec::Vec};

use super::table::{Pair, Row, Table};
use super::test::{Cell, Condition, Test};

/// A test without its constants: which bits it looks at, and the kind of its condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Look {
    pub cell: Cell,
    pub mask: u32,
    pub kind: Kind,
}

/// The kind of condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Is,
    IsNot,
    Between,
}

/// All branches are tried, those with the highest possible rank first.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    pub branches: Vec<Branch>,
}

#[derive(Clone, Debug)]
pub(super) struct Branch {
    /// An upper bound of the weights in it.
    pub bound: u64,
    pub node: Node,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    /// Branches on the value of some bits of a cell.
    Switch {
        cell: Cell,
        mask: u32,
        cases: Vec<(u32, Tree)>,
    },
    /// Continues if a test holds.
    Check {
        test: Test,
        then: Tree,
    },
    Leaf(Leaf),
}

/// A table, and how its keys and checks are compared with a packet.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub table: usize,
    pub keys: Vec<Look>,
    pub checks: Vec<Look>,
}

/// A path to a leaf: the tests on it.
#[derive(Debug)]
pub(super) struct Way {
    pub tests: Vec<Test>,
    pub bound: u64,
    pub leaf: Leaf,
}

/// The tables of leaves, and what ranks rows.
#[derive(Clone, Copy)]
pub(super) struct Tables<'a> {
    pub tables: &'a [Option<Arc<Table>>],
    /// The age of each target: greater is older.
    pub ages: &'a [u64],
}

/// The target that was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Its number, from 1; 0 for none.
    pub target: u32,
    pub weight: u64,
}

impl Look {
    pub fn of(test: &Test) -> Look {
        let kind = match test.condition {
            Condition::Is(_) => Kind::Is,
            Condition::IsNot(_) => Kind::IsNot,
            Condition::Between(..) => Kind::Between,
        };
        Look { cell: test.cell, mask: test.mask, kind }
    }

    fn read(&self, packet: &[u8]) -> Option<u32> {
        self.cell.read(packet).map(|value| value & self.mask)
    }

    fn holds(&self, (low, high): Pair, packet: &[u8]) -> bool {
        self.read(packet).is_some_and(|value| match self.kind {
            Kind::Is => value == low,
            Kind::IsNot => value != low,
            Kind::Between => (low..=high).contains(&value),
        })
    }
}

impl Tree {
    /// Builds a tree of these paths, merged where they begin alike.
    pub fn new(mut ways: Vec<Way>) -> Tree {
        ways.sort_unstable_by(|a, b| a.tests.cmp(&b.tests));
        Tree::of(&ways, 0)
    }

    /// Builds a tree of paths whose first tests are the same.
    fn of(ways: &[Way], common: usize) -> Tree {
        let same = |a: &Way, b: &Way| match (a.tests.get(common), b.tests.get(common)) {
            (Some(a), Some(b)) => a == b || Look::of(a) == Look::of(b) && Look::of(a).kind == Kind::Is,
            _ => false,
        };
        let branch = |ways: &[Way]| Branch {
            bound: ways.iter().map(|way| way.bound).max().unwrap_or(0),
            node: Node::of(ways, common),
        };
        let mut branches: Vec<Branch> = ways.chunk_by(same).map(branch).collect();
        branches.sort_by_key(|branch| core::cmp::Reverse(branch.bound));
        Tree { branches }
    }

    /// The first leaf's table.
    #[cfg(target_arch = "x86_64")]
    pub fn table(&self) -> Option<usize> {
        match &self.branches.first()?.node {
            Node::Switch { cases, .. } => cases.first()?.1.table(),
            Node::Check { then, .. } => then.table(),
            Node::Leaf(leaf) => Some(leaf.table),
        }
    }

    /// Looks for a row that wants the packet, and has a higher rank than what was found.
    pub fn walk(&self, packet: &[u8], tables: Tables, found: &mut Found) {
        for Branch { bound, node } in &self.branches {
            if found.weight > *bound {
                return;
            }
            match node {
                Node::Switch { cell, mask, cases } => {
                    let Some(value) = cell.read(packet) else { continue };
                    let case = cases.binary_search_by_key(&(value & mask), |(value, _)| *value);
                    if let Ok(index) = case {
                        cases[index].1.walk(packet, tables, found);
                    }
                }
                Node::Check { test, then } => {
                    if test.holds(packet) {
                        then.walk(packet, tables, found);
                    }
                }
                Node::Leaf(leaf) => leaf.walk(packet, tables, found),
            }
        }
    }
}

impl Node {
    fn of(ways: &[Way], common: usize) -> Node {
        let first = &ways[0];
        let Some(test) = first.tests.get(common) else { return Node::Leaf(first.leaf.clone()) };
        let Condition::Is(_) = test.condition else {
            return Node::Check { test: *test, then: Tree::of(ways, common + 1) };
        };
        let cases = ways.chunk_by(|a, b| a.tests[common] == b.tests[common]);
        let case = |ways: &[Way]| match ways[0].tests[common].condition {
            Condition::Is(value) => (value, Tree::of(ways, common + 1)),
            _ => unreachable!("ways are in one node if their tests are of one kind"),
        };
        Node::Switch { cell: test.cell, mask: test.mask, cases: cases.map(case).collect() }
    }
}

impl Leaf {
    fn walk(&self, packet: &[u8], tables: Tables, found: &mut Found) {
        const SHORT: usize = 4;
        let Some(table) = &tables.tables[self.table] else { return };
        let word = |look: &Look| look.read(packet).map(|value| look.cell.as_loaded(value));
        let mut short = [0; SHORT];
        let long: Vec<u32>;
        let key = if self.keys.len() <= SHORT {
            for (place, look) in short.iter_mut().zip(&self.keys) {
                let Some(word) = word(look) else { return };
                *place = word;
            }
            &short[..self.keys.len()]
        } else {
            let Some(key) = self.keys.iter().map(word).collect() else { return };
            long = key;
            &long
        };
        let fits = |row: &Row| {
            self.checks.iter().enumerate().all(|(index, look)| look.holds(row.pair(index), packet))
        };
        if let Some(row) = table.chain(key).find(fits) {
            let other = Found { target: row.target(), weight: row.weight() };
            let rank = |found: &Found| (found.weight, tables.ages[found.target as usize]);
            if rank(&other) > rank(found) {
                *found = other;
            }
        }
    }
}
