//! Conjunctions of tests in normal form: equivalent ones become equal, so that filters that look at the same fields are
//! recognised.

use alloc::{collections::BTreeMap, vec::Vec};

use super::test::{Cell, Condition, Test};

/// What is known of a packet for which some tests hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Conjunction {
    /// The known bits of a cell, and their values. No known bits: the packet has the cell.
    exact: BTreeMap<Cell, Bits>,
    others: Vec<Test>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bits {
    mask: u32,
    value: u32,
}

/// The error for tests that contradict each other.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Contradiction;

impl Conjunction {
    /// Makes a conjunction of tests, unless they contradict each other.
    pub fn of(tests: &[Test]) -> Option<Conjunction> {
        let mut conjunction = Conjunction::default();
        tests.iter().all(|test| conjunction.add(*test).is_ok()).then_some(conjunction)
    }

    /// Adds a test.
    pub fn add(&mut self, test: Test) -> Result<(), Contradiction> {
        let Test { cell, mask, condition } = simplified(test)?;
        match condition {
            Condition::Is(value) => self.fix(cell, Bits { mask, value }),
            Condition::IsNot(_) => {
                self.fix(cell, Bits::default())?;
                self.keep(Test { cell, mask, condition })
            }
            Condition::Between(low, high) => {
                self.fix(cell, Bits::default())?;
                let same = |it: &Test| (it.cell, it.mask) == (cell, mask);
                let range = |it: &Test| match it.condition {
                    Condition::Between(low, high) if same(it) => Some((low, high)),
                    _ => None,
                };
                let Some(at) = self.others.iter().position(|it| range(it).is_some()) else {
                    return self.keep(Test { cell, mask, condition });
                };
                let known = self.others.swap_remove(at);
                let (lowest, highest) = range(&known).unwrap_or((low, high));
                let condition = Condition::Between(low.max(lowest), high.min(highest));
                let both = Test { cell, mask, condition };
                if both == known { self.keep(both) } else { self.add(both) }
            }
        }
    }

    /// How much is known.
    pub fn size(&self) -> usize {
        self.exact.len() + self.others.len()
    }

    /// Whether a test holds, if that follows from what is known.
    pub fn decides(&self, test: &Test) -> Option<bool> {
        let bits = self.exact.get(&test.cell)?;
        (test.mask & !bits.mask == 0).then(|| test.condition.holds(bits.value & test.mask))
    }

    /// Whether all these tests follow from what is known.
    pub fn implies(&self, tests: &[Test]) -> bool {
        tests.iter().all(|test| self.decides(test) == Some(true) || self.others.contains(test))
    }

    /// Its tests, in normal form and order.
    pub fn tests(&self) -> Vec<Test> {
        let known = self.exact.iter().filter(|(cell, bits)| bits.mask != 0 || !self.follows(**cell));
        let test = |(cell, bits): (&Cell, &Bits)| Test {
            cell: *cell,
            mask: bits.mask,
            condition: Condition::Is(bits.value),
        };
        let mut tests: Vec<Test> = known.map(test).chain(self.others.iter().copied()).collect();
        tests.sort_unstable();
        tests
    }

    fn fix(&mut self, cell: Cell, bits: Bits) -> Result<(), Contradiction> {
        let known = self.exact.entry(cell).or_default();
        if (known.value ^ bits.value) & known.mask & bits.mask != 0 {
            return Err(Contradiction);
        }
        let is_news = bits.mask & !known.mask != 0;
        *known = Bits { mask: known.mask | bits.mask, value: known.value | bits.value };
        if is_news { self.settle(cell) } else { Ok(()) }
    }

    /// Simplifies the other conditions on a cell of which more is known now.
    fn settle(&mut self, cell: Cell) -> Result<(), Contradiction> {
        for test in core::mem::take(&mut self.others) {
            if test.cell == cell { self.keep(test)? } else { self.others.push(test) }
        }
        Ok(())
    }

    fn keep(&mut self, test: Test) -> Result<(), Contradiction> {
        match self.decides(&test) {
            Some(true) => Ok(()),
            Some(false) => Err(Contradiction),
            None => {
                if !self.others.contains(&test) {
                    self.others.push(test);
                }
                Ok(())
            }
        }
    }

    /// Whether the other conditions imply that the packet has a cell.
    fn follows(&self, cell: Cell) -> bool {
        let is_tested = self.others.iter().any(|test| test.cell == cell);
        is_tested
            || self.exact.iter().any(|(other, bits)| {
                // Of two equivalent conditions, one stays.
                let is_stronger = bits.mask != 0 || !reaches(cell, *other) || *other > cell;
                *other != cell && is_stronger && reaches(*other, cell)
            })
            || cell == Cell::Length
    }
}

/// Whether a packet that has one cell has the other one.
fn reaches(one: Cell, other: Cell) -> bool {
    match (one, other) {
        (Cell::At { offset: a, size }, Cell::At { offset: b, size: other }) => {
            u64::from(a) + u64::from(size.bytes()) >= u64::from(b) + u64::from(other.bytes())
        }
        (
            Cell::Behind { header, offset: a, size },
            Cell::Behind { header: header_of_other, offset: b, size: other },
        ) => {
            header == header_of_other
                && u64::from(a) + u64::from(size.bytes()) >= u64::from(b) + u64::from(other.bytes())
        }
        (Cell::Behind { header, offset: a, size }, Cell::At { offset: b, size: other }) => {
            let end = (u64::from(a) + u64::from(size.bytes())).max(u64::from(header) + 1);
            end >= u64::from(b) + u64::from(other.bytes())
        }
        _ => false,
    }
}

/// The simplest equivalent test.
fn simplified(test: Test) -> Result<Test, Contradiction> {
    let Test { cell, condition, .. } = test;
    let mask = test.mask & cell.mask();
    let condition = match condition {
        Condition::Between(low, high) => Condition::Between(low, high.min(mask)),
        condition => condition,
    };
    let is = |mask, value| Ok(Test { cell, mask, condition: Condition::Is(value) });
    match condition {
        Condition::Is(value) if value & !mask != 0 => Err(Contradiction),
        Condition::Is(value) => is(mask, value),
        Condition::IsNot(value) if value & !mask != 0 => is(0, 0),
        Condition::IsNot(_) if mask == 0 => Err(Contradiction),
        Condition::IsNot(value) if mask.is_power_of_two() => is(mask, value ^ mask),
        Condition::IsNot(_) => Ok(Test { cell, mask, condition }),
        Condition::Between(low, high) if low > high => Err(Contradiction),
        Condition::Between(0, high) if high == mask => is(0, 0),
        Condition::Between(low, high) if low == high => {
            simplified(Test { cell, mask, condition: Condition::Is(low) })
        }
        Condition::Between(low, high) => {
            let below = high - low;
            // The low bits may be anything, and those above are the same.
            let is_block =
                mask & mask.wrapping_add(1) == 0 && below & below.wrapping_add(1) == 0 && low & below == 0;
            if is_block {
                return is(mask & !below, low);
            }
            Ok(Test { cell, mask, condition: Condition::Between(low, high) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: Cell = Cell::At { offset: 12, size: super::super::test::Size::Half };

    fn normal(tests: &[Test]) -> Option<Vec<Test>> {
        Conjunction::of(tests).map(|it| it.tests())
    }

    #[test]
    fn what_follows_isnt_said() {
        let is_ip = Test::is(TYPE, 0x800);
        assert_eq!(
            normal(&[Test::is_not(TYPE, 0x86dd), is_ip, Test::between(TYPE, 0x600, 0xffff)]),
            Some([is_ip].into())
        );
        assert_eq!(normal(&[is_ip, Test::has(Cell::byte(3)), Test::has(TYPE)]), Some([is_ip].into()));
        let far = Test::has(Cell::word(30));
        assert_eq!(normal(&[Test::has(Cell::half(32)), far, is_ip]).unwrap().len(), 2);
        assert_eq!(
            normal(&[Test::is(TYPE, 0).masked(0xf0), Test::is(TYPE, 8).masked(0x0f)]),
            Some([Test::is(TYPE, 8).masked(0xff)].into())
        );
    }

    #[test]
    fn contradictions_are_found() {
        assert_eq!(normal(&[Test::is(TYPE, 1), Test::is(TYPE, 2)]), None);
        assert_eq!(normal(&[Test::is(TYPE, 1), Test::is_not(TYPE, 1)]), None);
        assert_eq!(normal(&[Test::is_not(TYPE, 1), Test::is(TYPE, 1)]), None);
        assert_eq!(normal(&[Test::between(TYPE, 1, 5), Test::between(TYPE, 7, 9)]), None);
        assert_eq!(normal(&[Test::is(TYPE, 0x10000)]), None);
        assert_eq!(normal(&[Test::is(TYPE, 3).masked(2)]), None);
    }

    #[test]
    fn ranges_meet_and_blocks_are_masks() {
        let ranges = [Test::between(TYPE, 100, 200), Test::between(TYPE, 150, 300)];
        assert_eq!(normal(&ranges), Some([Test::between(TYPE, 150, 200)].into()));
        assert_eq!(
            normal(&[Test::between(TYPE, 1024, 2047)]),
            Some([Test::is(TYPE, 1024).masked(0xfc00)].into())
        );
        let one = [Test::between(TYPE, 7, 9), Test::between(TYPE, 9, 20)];
        assert_eq!(normal(&one), Some([Test::is(TYPE, 9)].into()));
        assert_eq!(normal(&[Test::is_not(TYPE, 0).masked(4)]), Some([Test::is(TYPE, 4).masked(4)].into()));
    }
}
