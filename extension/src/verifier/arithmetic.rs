//! Arithmetic on abstract numbers.

use core::ops::{Add, Sub};

use super::number::Number;
use crate::bytecode::{Alu, Order, Size, Width};

impl Number {
    /// `left OPERATION right`, with the conventions of [`Alu`].
    pub fn computed(operation: Alu, width: Width, left: Number, right: Number) -> Number {
        if width == Width::W64 {
            return wide(operation, left, right, 64);
        }
        // The low half of a result depends on the low halves only. Most operations may take any 64-bit numbers with
        // these; signed ones need them sign-extended.
        let (left, right) = match operation {
            Alu::SignedDiv | Alu::SignedMod | Alu::ShiftRightSigned => {
                (left.low_signed(32), right.low_signed(32))
            }
            _ => (left.low(32), right.low(32)),
        };
        wide(operation, left, right, 32).low(32)
    }

    /// `-self`.
    pub fn negated(self, width: Width) -> Number {
        Number::computed(Alu::Sub, width, Number::exactly(0), self)
    }

    /// The low bytes in another order, extended with zeros.
    pub fn swapped(self, order: Order, size: Size) -> Number {
        let bits = 8 * size.bytes() as u32;
        let low = if bits == 64 { self } else { self.low(bits) };
        match (order, low.constant()) {
            (Order::Little, _) => low,
            (_, Some(value)) => Number::exactly(value.swap_bytes() >> (64 - bits)),
            _ => Number::between(0, u64::MAX >> (64 - bits)),
        }
    }
}

fn wide(operation: Alu, left: Number, right: Number, width: u32) -> Number {
    match operation {
        Alu::Add => left + right,
        Alu::Sub => left - right,
        Alu::Mul => product(left, right),
        Alu::Div => quotient(left, right),
        Alu::SignedDiv => quotient_signed(left, right),
        Alu::Mod => rest(left, right),
        Alu::SignedMod => rest_signed(left, right),
        Alu::And => {
            let most = left.most.min(right.most);
            Number { most, bits: left.bits & right.bits, ..Number::ANY }.settled()
        }
        Alu::Or => {
            let least = left.least.max(right.least);
            Number { least, bits: left.bits | right.bits, ..Number::ANY }.settled()
        }
        Alu::Xor => Number::of_bits(left.bits ^ right.bits),
        Alu::ShiftLeft | Alu::ShiftRight | Alu::ShiftRightSigned => shifted(operation, left, right, width),
        Alu::Mov => right,
    }
}

impl Add for Number {
    type Output = Number;

    #[inline]
    fn add(self, other: Number) -> Number {
        match (self.constant(), other.constant()) {
            (Some(left), Some(right)) => Number::exactly(left.wrapping_add(right)),
            (_, Some(0)) => self,
            _ => self.plus(other),
        }
    }
}

impl Number {
    fn plus(self, other: Number) -> Number {
        let mut sum = Number { bits: self.bits + other.bits, ..Number::ANY };
        // If both bounds wrap around, or neither, they remain bounds.
        let (least, first) = self.least.overflowing_add(other.least);
        let (most, second) = self.most.overflowing_add(other.most);
        if first == second {
            (sum.least, sum.most) = (least, most);
        }
        let least = self.signed_least.checked_add(other.signed_least);
        let most = self.signed_most.checked_add(other.signed_most);
        if let (Some(least), Some(most)) = (least, most) {
            (sum.signed_least, sum.signed_most) = (least, most);
        }
        sum.settled()
    }
}

impl Sub for Number {
    type Output = Number;

    fn sub(self, other: Number) -> Number {
        let mut difference = Number { bits: self.bits - other.bits, ..Number::ANY };
        let (least, first) = self.least.overflowing_sub(other.most);
        let (most, second) = self.most.overflowing_sub(other.least);
        if first == second {
            (difference.least, difference.most) = (least, most);
        }
        let least = self.signed_least.checked_sub(other.signed_most);
        let most = self.signed_most.checked_sub(other.signed_least);
        if let (Some(least), Some(most)) = (least, most) {
            (difference.signed_least, difference.signed_most) = (least, most);
        }
        difference.settled()
    }
}

fn product(left: Number, right: Number) -> Number {
    let mut product = Number { bits: left.bits.multiplied(right.bits), ..Number::ANY };
    if let Some(most) = left.most.checked_mul(right.most) {
        (product.least, product.most) = (left.least * right.least, most);
    }
    let corners = [
        left.signed_least.checked_mul(right.signed_least),
        left.signed_least.checked_mul(right.signed_most),
        left.signed_most.checked_mul(right.signed_least),
        left.signed_most.checked_mul(right.signed_most),
    ];
    if let [Some(a), Some(b), Some(c), Some(d)] = corners {
        product.signed_least = a.min(b).min(c).min(d);
        product.signed_most = a.max(b).max(c).max(d);
    }
    product.settled()
}

fn quotient(left: Number, right: Number) -> Number {
    if right.most == 0 {
        return right;
    }
    let most = left.most / right.least.max(1);
    // A division by 0 gives 0.
    let least = if right.least == 0 { 0 } else { left.least / right.most };
    Number::between(least, most)
}

fn rest(left: Number, right: Number) -> Number {
    if let (Some(left), Some(right)) = (left.constant(), right.constant()) {
        return Number::exactly(left.checked_rem(right).unwrap_or(left));
    }
    // The remainder by 0, or by a greater number, is the number itself.
    if left.most < right.least || right.most == 0 {
        left
    } else if right.least == 0 {
        Number::between(0, left.most)
    } else {
        Number::between(0, left.most.min(right.most - 1))
    }
}

fn quotient_signed(left: Number, right: Number) -> Number {
    if let (Some(left), Some(right)) = (left.constant(), right.constant()) {
        let quotient = if right == 0 { 0 } else { (left as i64).wrapping_div(right as i64) };
        return Number::exactly(quotient as u64);
    }
    if right.signed_least <= 0 {
        return if left.signed_least == i64::MIN { Number::ANY } else { no_larger(left) };
    }
    // Toward 0: the number farthest from 0 by the least divisor, the nearest by the greatest.
    let divided = |end: i64, far: bool| if far { end / right.signed_least } else { end / right.signed_most };
    let least = divided(left.signed_least, left.signed_least < 0);
    Number::between_signed(least, divided(left.signed_most, left.signed_most >= 0))
}

/// The numbers whose absolute value is at most that of the given one.
fn no_larger(than: Number) -> Number {
    let distance = than.signed_least.unsigned_abs().max(than.signed_most.unsigned_abs()) as i64;
    Number::between_signed(-distance, distance)
}

fn rest_signed(left: Number, right: Number) -> Number {
    if let (Some(left), Some(right)) = (left.constant(), right.constant()) {
        let rest = if right == 0 { left as i64 } else { (left as i64).wrapping_rem(right as i64) };
        return Number::exactly(rest as u64);
    }
    // The remainder has the sign of the dividend, and is nearer to 0 than both operands (by 0: it is the dividend).
    let (mut least, mut most) = (left.signed_least.min(0), left.signed_most.max(0));
    if right.signed_least > 0 {
        least = least.max(1 - right.signed_most);
        most = most.min(right.signed_most - 1);
    }
    Number::between_signed(least, most)
}

fn shifted(operation: Alu, left: Number, by: Number, width: u32) -> Number {
    // The machine uses only so many bits of the shift count.
    let (few, many) = match by.constant() {
        Some(by) => (by as u32 % width, by as u32 % width),
        None if by.most < u64::from(width) => (by.least as u32, by.most as u32),
        None => (0, width - 1),
    };
    let mut result = Number::ANY;
    match operation {
        Alu::ShiftLeft => {
            if left.most.leading_zeros() >= many {
                (result.least, result.most) = (left.least << few, left.most << many);
            }
            if few == many {
                result.bits = left.bits.left(few);
                let (least, most) = (left.signed_least << few, left.signed_most << few);
                if (least >> few, most >> few) == (left.signed_least, left.signed_most) {
                    (result.signed_least, result.signed_most) = (least, most);
                }
            }
        }
        Alu::ShiftRight => {
            (result.least, result.most) = (left.least >> many, left.most >> few);
            if few == many {
                result.bits = left.bits.right(few);
            }
        }
        _ => {
            let shifted = |end: i64, far: bool| if far { end >> few } else { end >> many };
            result.signed_least = shifted(left.signed_least, left.signed_least < 0);
            result.signed_most = shifted(left.signed_most, left.signed_most >= 0);
            if few == many {
                result.bits = left.bits.right_signed(few);
            }
        }
    }
    result.settled()
}
