//! Joins tests of one number that lead to the same exit, if no effects lie between them. Each layer tests whether there
//! is room for its few bytes, but one test suffices for all.
//!
//! Only computations and loads lie between the tests, so that taking the exit earlier is not observable.

use super::flow::bring_the_same;
use super::{Known, Surroundings, known_call};
use crate::ir::{
    Access, Binary, Block, BlockId, Body, Compare, Const, Op, Operand, Terminator, Type, ValueId,
};

/// The greatest number of tests after the first one that are examined.
const FAR: usize = 64;

/// A contiguous range of numbers of a width, in which the lowest number follows the highest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Range {
    /// The first one.
    start: u128,
    /// The size of the range; neither empty nor all numbers.
    count: u128,
    /// The width in bits.
    bits: u32,
}

impl Range {
    /// The range of this size; `None` if it is empty or has all numbers.
    fn new(start: u128, count: u128, bits: u32) -> Option<Range> {
        let all = 1u128 << bits;
        (count > 0 && count < all).then_some(Range { start: start & (all - 1), count, bits })
    }

    /// The numbers for which a comparison with a constant holds.
    fn of(comparison: Compare, constant: u128, bits: u32) -> Option<Range> {
        let all = 1u128 << bits;
        match comparison {
            Compare::Eq => Range::new(constant, 1, bits),
            Compare::Ne => Range::new(constant + 1, all - 1, bits),
            Compare::Ult => Range::new(0, constant, bits),
            Compare::Ule => Range::new(0, constant + 1, bits),
            Compare::Uge => Range::new(constant, all - constant, bits),
            Compare::Ugt => Range::new(constant + 1, all - constant - 1, bits),
            _ => None,
        }
    }

    /// The complement.
    fn others(self) -> Option<Range> {
        Range::new(self.start + self.count, (1 << self.bits) - self.count, self.bits)
    }

    /// The numbers that lie in the range after `number` is added.
    fn before_adding(self, number: u128) -> Option<Range> {
        Range::new(self.start.wrapping_sub(number), self.count, self.bits)
    }

    /// The intersection, if it is contiguous.
    fn and(self, other: Range) -> Option<Range> {
        let joined = |first: Range, second: Range| {
            let distance = second.start.wrapping_sub(first.start) & ((1 << first.bits) - 1);
            let count = first.count.max(distance + second.count);
            (distance <= first.count).then(|| Range::new(first.start, count, first.bits)).flatten()
        };
        joined(self, other).or_else(|| joined(other, self))
    }
}

/// A branch that depends on whether a number lies in a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Guard {
    /// The number.
    value: ValueId,
    /// The range.
    range: Range,
}

/// Joins the tests of a function. The result tells whether there were any.
pub(crate) fn join(body: &mut Body, around: &Surroundings) -> bool {
    let mut guards = Guards { before: body.predecessors(), sites: body.definitions(), body, around };
    let mut joined = false;
    for at in 0..guards.body.blocks.len() {
        let Terminator::Branch(_, then, other) = guards.body.blocks[at].terminator else { continue };
        for (out, next) in [(then, other), (other, then)] {
            joined |= guards.join_from(BlockId(at as u32), out, next);
        }
    }
    joined
}

/// The tests of a function.
struct Guards<'a> {
    /// The function.
    body: &'a mut Body,
    /// The module.
    around: &'a Surroundings<'a>,
    /// The predecessors of each block.
    before: Vec<Vec<BlockId>>,
    /// The block and position at which each value is defined.
    sites: Vec<Option<(usize, usize)>>,
}

impl Guards<'_> {
    /// Joins the test at the end of a block with later tests on one path that have the same exit.
    fn join_from(&mut self, first: BlockId, out: BlockId, mut next: BlockId) -> bool {
        let Some(guard) = self.guard(first, out) else { return false };
        let mut range = guard.range;
        for _ in 0..FAR {
            let (then, other) = match self.block(next).terminator {
                _ if self.before[next.0 as usize].len() != 1 || !self.is_unseen(next) => break,
                Terminator::Jump(to) => (to, to),
                Terminator::Branch(_, then, other)
                    if then != other
                        && (then == out || other == out)
                        && bring_the_same(self.block(out), first, next) =>
                {
                    (then, other)
                }
                _ => break,
            };
            let wider = self
                .guard(next, out)
                .filter(|later| later.value == guard.value)
                .and_then(|later| range.and(later.range));
            if let Some(wider) = wider {
                range = wider;
                let never = Operand::Const(Const::int(1, u128::from(then != out)));
                self.body.blocks[next.0 as usize].terminator = Terminator::Branch(never, then, other);
            }
            next = if then == out { other } else { then };
        }
        let Terminator::Branch(condition, ..) = &self.block(first).terminator else { return false };
        let simpler = range != guard.range || !matches!(self.made_by(condition), Some(Op::Compare(..)));
        if simpler {
            self.test(first, out, Guard { range, ..guard });
        }
        simpler
    }

    fn block(&self, at: BlockId) -> &Block {
        &self.body.blocks[at.0 as usize]
    }

    /// Whether a block only computes and loads.
    fn is_unseen(&self, at: BlockId) -> bool {
        self.block(at).instructions.iter().all(|instruction| match &instruction.op {
            Op::Load { access, .. } => *access == Access::Plain,
            op @ Op::Call { .. } => known_call(self.around.module, op) == Some(Known::Pure),
            Op::Store { .. }
            | Op::Alloca { .. }
            | Op::AtomicUpdate(..)
            | Op::CompareExchange(..)
            | Op::Fence => false,
            _ => true,
        })
    }

    /// The operation that defines an operand; `None` for parameters and constants.
    fn made_by(&self, operand: &Operand) -> Option<&Op> {
        let Operand::Value(value) = operand else { return None };
        let (block, index) = self.sites[value.0 as usize]?;
        Some(&self.body.blocks[block].instructions[index].op)
    }

    /// The numbers for which the branch at the end of a block goes to `out`.
    fn guard(&self, at: BlockId, out: BlockId) -> Option<Guard> {
        let Terminator::Branch(condition, then, other) = &self.block(at).terminator else { return None };
        if then == other || *then != out && *other != out {
            return None;
        }
        self.asked(condition, *then == out).or_else(|| {
            let (left, right) = self.alternatives(condition, *then == out)?;
            let (left, right) = (self.asked(left, *then == out)?, self.asked(right, *then == out)?);
            let range = left.range.and(right.range).filter(|_| left.value == right.value)?;
            Some(Guard { range, ..left })
        })
    }

    /// The two conditions each of which suffices to make another condition true or false.
    fn alternatives(&self, condition: &Operand, truth: bool) -> Option<(&Operand, &Operand)> {
        match self.made_by(condition)? {
            Op::Binary(Binary::Or, left, right) if truth => Some((left, right)),
            Op::Binary(Binary::And, left, right) if !truth => Some((left, right)),
            Op::Select(left, all, right) if truth && all.known_int() == Some(1) => Some((left, right)),
            Op::Select(left, right, none) if !truth && none.known_int() == Some(0) => Some((left, right)),
            _ => None,
        }
    }

    /// The numbers for which a comparison is true or false.
    fn asked(&self, condition: &Operand, truth: bool) -> Option<Guard> {
        let Op::Compare(comparison, left, right) = self.made_by(condition)? else { return None };
        let (comparison, mut number, constant) = match left.known_int() {
            Some(constant) => (comparison.swapped(), right, constant),
            None => (*comparison, left, right.known_int()?),
        };
        let Type::Int(bits @ 2..=64) = self.body.type_of(number) else { return None };
        let holds = Range::of(comparison, constant, bits)?;
        let mut range = if truth { holds } else { holds.others()? };
        while let Some(Op::Binary(operation @ (Binary::Add | Binary::Sub), inner, by)) = self.made_by(number)
        {
            let Some(by) = by.known_int() else { break };
            range = range.before_adding(if *operation == Binary::Add { by } else { by.wrapping_neg() })?;
            number = inner;
        }
        let Operand::Value(value) = *number else { return None };
        Some(Guard { value, range })
    }

    /// Ends a block with a test.
    fn test(&mut self, at: BlockId, out: BlockId, guard: Guard) {
        let Guard { value, range: Range { start, count, bits } } = guard;
        let (value, number) = (Operand::Value(value), |number| Operand::Const(Const::int(bits, number)));
        let inside = match ((1 << bits) - count, count) {
            (_, 1) => Op::Compare(Compare::Eq, value, number(start)),
            (1, _) => Op::Compare(Compare::Ne, value, number(start + count)),
            _ if start == 0 => Op::Compare(Compare::Ult, value, number(count)),
            (others, _) if start == others => Op::Compare(Compare::Uge, value, number(start)),
            _ => {
                let difference = Op::Binary(Binary::Sub, value, number(start));
                let from_start = self.compute(at, Type::Int(bits), difference);
                Op::Compare(Compare::Ult, from_start, number(count))
            }
        };
        let inside = self.compute(at, Type::Int(1), inside);
        if let Terminator::Branch(condition, then, other) = &mut self.body.blocks[at.0 as usize].terminator {
            let on = if *then == out { *other } else { *then };
            (*condition, *then, *other) = (inside, out, on);
        }
    }

    /// Adds an instruction to the end of a block.
    fn compute(&mut self, at: BlockId, ty: Type, op: Op) -> Operand {
        let (instruction, result) = self.body.computing(ty, op, self.block(at).place);
        let block = &mut self.body.blocks[at.0 as usize];
        self.sites.push(Some((at.0 as usize, block.instructions.len())));
        block.instructions.push(instruction);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of a range of 3 bits, as bits.
    fn numbers(range: Range) -> u8 {
        (0..range.count).fold(0, |all, number| all | 1 << ((range.start + number) % 8))
    }

    const COMPARISONS: [Compare; 6] =
        [Compare::Eq, Compare::Ne, Compare::Ult, Compare::Ule, Compare::Uge, Compare::Ugt];

    fn ranges() -> impl Iterator<Item = Range> {
        (0..8).flat_map(|start| (1..8).filter_map(move |count| Range::new(start, count, 3)))
    }

    #[test]
    fn a_range_holds_what_compares_so() {
        for (comparison, constant) in COMPARISONS.into_iter().flat_map(|c| (0..8).map(move |n| (c, n))) {
            let holds = (0..8).filter(|number| match comparison {
                Compare::Eq => *number == constant,
                Compare::Ne => *number != constant,
                Compare::Ult => *number < constant,
                Compare::Ule => *number <= constant,
                Compare::Uge => *number >= constant,
                _ => *number > constant,
            });
            let expected = holds.fold(0u8, |all, number| all | 1 << number);
            let is = Range::of(comparison, constant, 3).map(numbers);
            assert_eq!(
                is,
                (expected != 0 && expected != 255).then_some(expected),
                "{comparison:?} {constant}"
            );
        }
    }

    #[test]
    fn ranges_are_moved_and_joined() {
        for range in ranges() {
            assert_eq!(range.others().map(numbers), Some(!numbers(range)));
            for number in 0..8 {
                let moved = range.before_adding(number).map(numbers);
                assert_eq!(moved, Some(numbers(range).rotate_right(number as u32)), "{range:?} {number}");
            }
            for other in ranges() {
                let both = numbers(range) | numbers(other);
                let joined = range.and(other).map(numbers);
                let fits = ranges().any(|one| numbers(one) == both);
                assert!(joined.is_none_or(|joined| joined == both), "{range:?} {other:?}");
                assert!(joined.is_some() || !fits, "{range:?} {other:?}");
            }
        }
    }
}
