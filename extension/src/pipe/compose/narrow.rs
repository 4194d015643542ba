//! Narrows values where that doesn't change the result.

use super::super::Gauge;
use super::super::Refusal;
use super::super::body::*;
use super::{Composed, Composer};

impl Composer {
    /// Narrows an operation whose low bits depend only on the low bits of its operands, as for most.
    pub(super) fn narrow_by_parts(&mut self, a: Value, width: Gauge) -> Composed {
        use Binary::*;
        match self.body.step(a).operation {
            Operation::Constant(number) => self.constant(width, number & width.most()),
            Operation::Widen(inner) if self.width(inner) < width => self.widen(inner, width),
            Operation::Widen(inner) => self.narrow(inner, width),
            Operation::Not(inner) => {
                let inner = self.narrow(inner, width)?;
                self.not(inner)
            }
            Operation::Binary(operation @ (Add | Sub | Mul | And | Or | Xor), x, y) => {
                let (x, y) = (self.narrow(x, width)?, self.narrow(y, width)?);
                self.binary(operation, x, y)
            }
            Operation::Binary(ShiftLeft, x, y) if self.constant_of(y).is_some() => {
                let count = self.constant_of(y).unwrap_or(0) % u64::from(self.width(a).bits());
                if count >= u64::from(width.bits()) {
                    return self.constant(width, 0);
                }
                let (x, count) = (self.narrow(x, width)?, self.constant(width, count)?);
                self.binary(ShiftLeft, x, count)
            }
            Operation::Select(comparison, [x, y, then, or]) => {
                let (then, or) = (self.narrow(then, width)?, self.narrow(or, width)?);
                self.select(comparison, [x, y, then, or])
            }
            _ => self.push(Operation::Narrow(a), width),
        }
    }

    /// Narrows an operation whose result fits into the width that its operands were widened from.
    pub(super) fn in_narrower(
        &mut self,
        operation: Binary,
        a: Value,
        b: Value,
    ) -> Result<Option<Value>, Refusal> {
        use Binary::*;
        if let (And, Some(low)) = (operation, self.low_bits(a, b)) {
            return self.narrow(a, low).map(Some);
        }
        match operation {
            And | Or | Xor | Min | Max => {
                let Some((x, y)) = self.both_narrower(a, b)? else { return Ok(None) };
                self.binary(operation, x, y).map(Some)
            }
            ShiftRight => self.shifted(a, b),
            _ => Ok(None),
        }
    }

    /// The same for a shift right.
    fn shifted(&mut self, a: Value, count: Value) -> Result<Option<Value>, Refusal> {
        let Some(number) = self.constant_of(count) else { return Ok(None) };
        let bits = self.width(a).bits();
        let number = number % u64::from(bits);
        match self.body.step(a).operation {
            Operation::Widen(x) => {
                let narrow = self.width(x);
                if number >= u64::from(narrow.bits()) {
                    return self.constant(narrow, 0).map(Some);
                }
                let count = self.constant(narrow, number)?;
                self.binary(Binary::ShiftRight, x, count).map(Some)
            }
            // Left and right by as much: how compilers take the low bits.
            Operation::Binary(Binary::ShiftLeft, x, to_higher) if to_higher == count => {
                let low = Gauge::ALL.into_iter().find(|it| u64::from(bits - it.bits().min(bits)) == number);
                low.map(|low| self.narrow(x, low)).transpose()
            }
            _ => Ok(None),
        }
    }

    /// The width of a mask of low bits, if it is one.
    fn low_bits(&self, value: Value, mask: Value) -> Option<Gauge> {
        let mask = self.constant_of(mask)?;
        Gauge::ALL.into_iter().find(|it| it.most() == mask && *it < self.width(value))
    }

    /// Recognises a sum plus its carry in the form `(s & 0xffffffff) + (s >> 32)` of a sum `s`.
    pub(super) fn with_carry(
        &mut self,
        operation: Binary,
        [a, b]: [Value; 2],
    ) -> Result<Option<Value>, Refusal> {
        if operation != Binary::Add {
            return Ok(None);
        }
        match self.carried(a, b).or_else(|| self.carried(b, a)) {
            Some(([a, b], width)) => {
                let (a, b) = (self.narrow(a, width)?, self.narrow(b, width)?);
                self.binary(Binary::EndAroundAdd, a, b).map(Some)
            }
            None => Ok(None),
        }
    }

    /// The operands and the width of the addition, if these are the low bits of its sum and its carry.
    fn carried(&self, low: Value, high: Value) -> Option<([Value; 2], Gauge)> {
        let step = |value| self.body.step(value).operation;
        let Operation::Widen(low) = step(low) else { return None };
        let Operation::Binary(Binary::ShiftRight, sum, count) = step(high) else { return None };
        let Operation::Binary(Binary::Add, a, b) = step(sum) else { return None };
        let width = self.width(low);
        let is_it = self.narrowed.get(&(sum, width)) == Some(&low)
            && self.constant_of(count) == Some(width.bits().into())
            && self.fits(a, width)
            && self.fits(b, width);
        is_it.then_some(([a, b], width))
    }

    /// Whether a value is known to be 0 above a width.
    pub fn fits(&self, value: Value, width: Gauge) -> bool {
        self.fits_within(value, width, 8)
    }

    /// The same, looking at a chain of so many steps.
    fn fits_within(&self, value: Value, width: Gauge, depth: usize) -> bool {
        use Binary::*;
        let Some(depth) = depth.checked_sub(1) else { return false };
        let fits = |value| self.fits_within(value, width, depth);
        let of = self.width(value);
        of <= width
            || match self.body.step(value).operation {
                Operation::Constant(number) => number <= width.most(),
                Operation::Widen(inner) => fits(inner),
                Operation::Select(_, [_, _, then, or]) => fits(then) && fits(or),
                Operation::Binary(And | Min, a, b) => fits(a) || fits(b),
                Operation::Binary(Or | Xor | Max, a, b) => fits(a) && fits(b),
                Operation::Binary(ShiftRight, _, count) => {
                    let count = self.constant_of(count).unwrap_or(0) % u64::from(of.bits());
                    count + u64::from(width.bits()) >= of.bits().into()
                }
                _ => false,
            }
    }

    /// Both values in a narrower width, if one was widened from it, and the other one fits.
    pub(super) fn both_narrower(&mut self, a: Value, b: Value) -> Result<Option<(Value, Value)>, Refusal> {
        let inner = |this: &Self, value| match this.body.step(value).operation {
            Operation::Widen(inner) => Some(inner),
            _ => None,
        };
        let (x, y) = (inner(self, a), inner(self, b));
        let width = [x, y].into_iter().flatten().map(|it| self.width(it)).max();
        let Some(width) = width else { return Ok(None) };
        let mut both = [a, b];
        for (value, inner) in both.iter_mut().zip([x, y]) {
            *value = match (inner, self.constant_of(*value)) {
                (Some(inner), _) => self.widen(inner, width)?,
                (None, Some(number)) if number <= width.most() => self.constant(width, number)?,
                _ => return Ok(None),
            };
        }
        Ok(Some((both[0], both[1])))
    }
}
