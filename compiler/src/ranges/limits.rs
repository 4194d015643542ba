//! Symbolic bounds: that a value does not exceed what another register holds. An index that runs up to a text's length
//! needs no test.
//!
//! # Why this is sound
//! Only registers that are written by one instruction are compared. That instruction comes before every use (the
//! verifier checks it), so once it has run again, no value is used that was computed from its earlier result.

use super::{Ranges, counter};
use crate::mir::*;

/// Instructions that are followed back at most.
const STEPS: usize = 16;

/// A value that is not greater than a register's and a constant together.
#[derive(Clone, Copy)]
struct Limit {
    reg: Reg,
    plus: i64,
}

impl Ranges {
    /// Whether a condition is known to hold whenever it is used in a block.
    pub fn is_true(&self, code: &Code, condition: Reg, block: BlockId) -> bool {
        match self.only_write(code, condition) {
            Some((&Inst::Op { op: Op::LessUnsigned, a, b, .. }, place)) => self.is_within(code, a, b, place),
            _ => self.of(code, condition, block).is_some_and(|range| range == (1, 1)),
        }
    }

    /// Whether a value is not negative and below another that is not, either.
    fn is_within(&self, code: &Code, a: Reg, b: Reg, block: BlockId) -> bool {
        let (Some((least, most)), Some((low, _))) = (self.of(code, a, block), self.of(code, b, block)) else {
            return false;
        };
        if least < 0 || low < 0 {
            return false;
        }
        let end = self.origin(code, b);
        most < low
            || self
                .limits(code, a, block, STEPS)
                .is_some_and(|limit| Some(limit.reg) == end && limit.plus < 0)
    }

    /// What a value cannot exceed.
    fn limits(&self, code: &Code, reg: Reg, block: BlockId, steps: usize) -> Option<Limit> {
        let steps = steps.checked_sub(1)?;
        if let Some((number, counter)) = counter(code, reg, block) {
            let greatest = if counter.step > 0 { counter.last } else { counter.first };
            let bound = || self.limits(code, greatest, counter.before, steps);
            return self.counts_alone(code, number, counter).then(bound)?;
        }
        let (instruction, place) = self.only_write(code, reg)?;
        let constant =
            |reg| self.of(code, reg, place).filter(|(least, most)| least == most).map(|(value, _)| value);
        let moved = |from, by: i64| {
            let limit = self.limits(code, from, place, steps)?;
            Some(Limit { plus: limit.plus.checked_add(by)?, ..limit })
        };
        match *instruction {
            Inst::Copy { from, .. } => self.limits(code, from, place, steps),
            Inst::Checked { operator: Checked::Add, a, b, .. } => match (constant(a), constant(b)) {
                (_, Some(by)) => moved(a, by),
                (Some(by), _) => moved(b, by),
                _ => None,
            },
            Inst::Checked { operator: Checked::Subtract, a, b, .. } => moved(a, constant(b)?.checked_neg()?),
            _ => Some(Limit { reg, plus: 0 }),
        }
    }

    /// The register that a value was copied from first.
    fn origin(&self, code: &Code, reg: Reg) -> Option<Reg> {
        let mut reg = reg;
        for _ in 0..STEPS {
            match self.only_write(code, reg)?.0 {
                Inst::Copy { from, .. } => reg = *from,
                _ => return Some(reg),
            }
        }
        None
    }
}
