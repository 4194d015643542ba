//! Families of filters that look at the same fields: the values in which they agree, and those that a table
//! distinguishes.

use alloc::{collections::BTreeMap, vec::Vec};

use super::rank::weight;
use super::table::{Pair, TableShape};
use super::test::{Condition, Test};
use super::tree::{Kind, Leaf, Look, Way};

/// All alternatives of one shape.
#[derive(Debug)]
pub(super) struct Family {
    looks: Vec<Look>,
    /// For each field the condition, if all members have the same. `None` once they had different ones.
    common: Vec<Option<Condition>>,
    /// An upper bound of the members' weights.
    bound: u64,
}

/// How a new member has changed a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    /// One more row in its table.
    None,
    /// The bound of weights has grown.
    Heavier,
    /// The family is new.
    New,
    /// They agree in less than before.
    Split,
}

/// All families, numbered as their tables.
#[derive(Debug, Default)]
pub(super) struct Families {
    all: Vec<Option<Family>>,
    by_looks: BTreeMap<Vec<Look>, usize>,
}

impl Family {
    /// The key and the pairs of a member, for the table.
    pub fn split(&self, conditions: &[Condition]) -> (Vec<u32>, Vec<Pair>) {
        let (mut key, mut pairs) = (Vec::new(), Vec::new());
        for ((look, common), condition) in self.looks.iter().zip(&self.common).zip(conditions) {
            match *condition {
                _ if common.is_some() => {}
                Condition::Is(value) => key.push(look.cell.as_loaded(value)),
                Condition::IsNot(value) => pairs.push((value, value)),
                Condition::Between(low, high) => pairs.push((low, high)),
            }
        }
        (key, pairs)
    }

    pub fn table(&self, seed: u64) -> TableShape {
        let key = self.differing().filter(|look| look.kind == Kind::Is).count();
        TableShape { key, pairs: self.differing().count() - key, seed }
    }

    fn differing(&self) -> impl Iterator<Item = &Look> {
        self.looks.iter().zip(&self.common).filter(|(_, common)| common.is_none()).map(|(look, _)| look)
    }

    fn way(&self, table: usize) -> Way {
        let test = |(look, common): (&Look, &Option<Condition>)| {
            common.map(|condition| Test { cell: look.cell, mask: look.mask, condition })
        };
        let tests = self.looks.iter().zip(&self.common).filter_map(test).collect();
        let (keys, checks) = self.differing().partition(|look| look.kind == Kind::Is);
        Way { tests, bound: self.bound, leaf: Leaf { table, keys, checks } }
    }
}

impl Families {
    /// Adds an alternative with a priority to its family. Returns that family.
    pub fn join(&mut self, tests: &[Test], priority: i32) -> (usize, Change) {
        let looks: Vec<Look> = tests.iter().map(Look::of).collect();
        let bound = bound(&looks, priority);
        let conditions = tests.iter().map(|test| Some(test.condition));
        let Some(&number) = self.by_looks.get(&looks) else {
            return (self.found(Family { looks, common: conditions.collect(), bound }), Change::New);
        };
        let Some(family) = &mut self.all[number] else {
            unreachable!("families that are gone have no looks")
        };
        let mut change = if bound > family.bound { Change::Heavier } else { Change::None };
        family.bound = family.bound.max(bound);
        for (common, condition) in family.common.iter_mut().zip(conditions) {
            if common.is_some() && *common != condition {
                *common = None;
                change = Change::Split;
            }
        }
        (number, change)
    }

    fn found(&mut self, family: Family) -> usize {
        let free = self.all.iter().position(Option::is_none);
        let number = free.unwrap_or_else(|| {
            self.all.push(None);
            self.all.len() - 1
        });
        self.by_looks.insert(family.looks.clone(), number);
        self.all[number] = Some(family);
        number
    }

    pub fn len(&self) -> usize {
        self.by_looks.len()
    }

    pub fn get(&self, number: usize) -> &Family {
        self.all[number].as_ref().expect("who has its number is a member")
    }

    /// Removes a family without members.
    pub fn dissolve(&mut self, number: usize) {
        if let Some(family) = self.all[number].take() {
            self.by_looks.remove(&family.looks);
        }
    }

    pub fn ways(&self) -> Vec<Way> {
        let families = self.all.iter().enumerate();
        families.filter_map(|(number, family)| Some(family.as_ref()?.way(number))).collect()
    }
}

/// The greatest weight that a member with this priority can have.
fn bound(looks: &[Look], priority: i32) -> u64 {
    let bits = |look: &Look| if look.kind == Kind::IsNot { 0 } else { look.mask.count_ones() };
    weight(priority, looks.iter().map(bits).sum(), looks.len() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demux::test::Cell;

    fn port_and_length(port: u32, longest: u32) -> [Test; 2] {
        [Test::is(Cell::half(36), port), Test::between(Cell::Length, 5, longest)]
    }

    #[test]
    fn a_table_tells_apart_what_members_differ_in() {
        let mut families = Families::default();
        let shape = |families: &Families| {
            let TableShape { key, pairs, .. } = families.get(0).table(0);
            (key, pairs)
        };
        assert_eq!(families.join(&port_and_length(1, 9), 0), (0, Change::New));
        assert_eq!(shape(&families), (0, 0));
        assert_eq!(families.join(&port_and_length(2, 9), 0), (0, Change::Split));
        assert_eq!(shape(&families), (1, 0));
        assert_eq!(families.join(&port_and_length(3, 9), 0), (0, Change::None));
        assert_eq!(families.join(&port_and_length(3, 9), 1), (0, Change::Heavier));
        assert_eq!(families.join(&port_and_length(3, 10), 1), (0, Change::Split));
        assert_eq!(shape(&families), (1, 1));
        let conditions = port_and_length(0x1234, 7).map(|test| test.condition);
        assert_eq!(families.get(0).split(&conditions), ([0x3412].into(), [(5, 7)].into()));
        assert_eq!(families.join(&[], 0), (1, Change::New));
        families.dissolve(0);
        assert_eq!(families.join(&port_and_length(1, 9), 0), (0, Change::New));
    }
}
