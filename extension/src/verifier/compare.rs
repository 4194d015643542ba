//! What the outcome of a comparison says about the compared numbers.

use super::bits::Bits;
use super::number::Number;
use crate::bytecode::{Condition, Width};

/// Two refined numbers.
pub(crate) type Pair = (Number, Number);

/// The numbers for which `left CONDITION right` has this outcome; `None` if there are none.
pub(crate) fn assume(
    condition: Condition,
    width: Width,
    holds: bool,
    left: Number,
    right: Number,
) -> Option<Pair> {
    if width == Width::W64 {
        return assume_wide(condition, holds, left, right);
    }
    let signed = matches!(
        condition,
        Condition::SignedGreater
            | Condition::SignedGreaterOrEqual
            | Condition::SignedLess
            | Condition::SignedLessOrEqual
    );
    let half = |number: Number| if signed { number.low_signed(32) } else { number.low(32) };
    let (low_left, low_right) = assume_wide(condition, holds, half(left), half(right))?;
    Some((with_low(left, low_left)?, with_low(right, low_right)?))
}

/// Refines the low half of a number, which may be extended with zeros or its sign.
fn with_low(number: Number, low: Number) -> Option<Number> {
    let low = low.low(32);
    if number.most <= u64::from(u32::MAX) {
        return number.meet(low);
    }
    let above = Bits { value: 0, unknown: !u64::from(u32::MAX) };
    number.meet(Number::of_bits(Bits { value: low.bits.value, unknown: low.bits.unknown | above.unknown }))
}

fn assume_wide(condition: Condition, holds: bool, left: Number, right: Number) -> Option<Pair> {
    let swap = |pair: Option<Pair>| pair.map(|(right, left)| (left, right));
    match (condition, holds) {
        (Condition::Equal, true) | (Condition::NotEqual, false) => left.meet(right).map(|both| (both, both)),
        (Condition::Equal, false) | (Condition::NotEqual, true) => different(left, right),
        (Condition::AnyBit, true) => some_bit(left, right),
        (Condition::AnyBit, false) => Some((no_bit(left, right)?, no_bit(right, left)?)),
        (Condition::Above, true) | (Condition::BelowOrEqual, false) => swap(below(right, left)),
        (Condition::Below, true) | (Condition::AboveOrEqual, false) => below(left, right),
        (Condition::AboveOrEqual, true) | (Condition::Below, false) => swap(at_most(right, left)),
        (Condition::BelowOrEqual, true) | (Condition::Above, false) => at_most(left, right),
        (Condition::SignedGreater, true) | (Condition::SignedLessOrEqual, false) => swap(less(right, left)),
        (Condition::SignedLess, true) | (Condition::SignedGreaterOrEqual, false) => less(left, right),
        (Condition::SignedGreaterOrEqual, true) | (Condition::SignedLess, false) => {
            swap(no_more(right, left))
        }
        (Condition::SignedLessOrEqual, true) | (Condition::SignedGreater, false) => no_more(left, right),
    }
}

fn below(left: Number, right: Number) -> Option<Pair> {
    at_most_but(left, right, 1)
}

fn at_most(left: Number, right: Number) -> Option<Pair> {
    at_most_but(left, right, 0)
}

/// `left + gap <= right`, unsigned.
fn at_most_but(left: Number, right: Number, gap: u64) -> Option<Pair> {
    let most = left.most.min(right.most.checked_sub(gap)?);
    let least = right.least.max(left.least.checked_add(gap)?);
    Some((Number { most, ..left }.reconciled()?, Number { least, ..right }.reconciled()?))
}

fn less(left: Number, right: Number) -> Option<Pair> {
    no_more_but(left, right, 1)
}

fn no_more(left: Number, right: Number) -> Option<Pair> {
    no_more_but(left, right, 0)
}

/// `left + gap <= right`, signed.
fn no_more_but(left: Number, right: Number, gap: i64) -> Option<Pair> {
    let signed_most = left.signed_most.min(right.signed_most.checked_sub(gap)?);
    let signed_least = right.signed_least.max(left.signed_least.checked_add(gap)?);
    let left = Number { signed_most, ..left }.reconciled()?;
    Some((left, Number { signed_least, ..right }.reconciled()?))
}

fn different(left: Number, right: Number) -> Option<Pair> {
    let without = |number: Number, other: Number| {
        let Some(value) = other.constant() else { return Some(number) };
        let mut number = number;
        if number.constant() == Some(value) {
            return None;
        }
        // If the excluded number is a bound, the bound moves. It doesn't wrap, because the range has other numbers.
        if number.least == value {
            number.least += 1;
        }
        if number.most == value {
            number.most -= 1;
        }
        if number.signed_least == value as i64 {
            number.signed_least = number.signed_least.checked_add(1)?;
        }
        if number.signed_most == value as i64 {
            number.signed_most = number.signed_most.checked_sub(1)?;
        }
        number.reconciled()
    };
    Some((without(left, right)?, without(right, left)?))
}

/// `left & right` isn't 0.
fn some_bit(left: Number, right: Number) -> Option<Pair> {
    let common = left.bits & right.bits;
    let candidates = common.value | common.unknown;
    if candidates == 0 {
        return None;
    }
    if !candidates.is_power_of_two() {
        return Some((left, right));
    }
    // It must be this bit, so both have it.
    let it = Number::of_bits(Bits { value: candidates, unknown: !candidates });
    Some((left.meet(it)?, right.meet(it)?))
}

/// A number without the bits that the other surely has.
fn no_bit(number: Number, other: Number) -> Option<Number> {
    number.meet(Number::of_bits(Bits { value: 0, unknown: !other.bits.value }))
}
