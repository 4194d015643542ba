//! Arithmetic with ranges.

use crate::mir::{Checked, Op};

/// The least and the greatest value.
pub type Range = (i64, i64);

/// The range of the minimum of two values; the range of one may be unknown.
pub(super) fn least(a: Option<Range>, b: Option<Range>) -> Option<Range> {
    match (a, b) {
        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.min(d))),
        (a, b) => a.or(b).map(|(_, high)| (i64::MIN, high)),
    }
}

/// The same for the maximum.
pub(super) fn greatest(a: Option<Range>, b: Option<Range>) -> Option<Range> {
    match (a, b) {
        (Some((a, b)), Some((c, d))) => Some((a.max(c), b.max(d))),
        (a, b) => a.or(b).map(|(low, _)| (low, i64::MAX)),
    }
}

/// The range of a checked operation's result, if it does not fault.
pub(super) fn checked(operator: Checked, a: Option<Range>, b: Option<Range>) -> Option<Range> {
    match (operator, b) {
        (Checked::Mod, Some((low, high))) if low > 0 => Some((0, high - 1)),
        _ => exact(operator, a, b),
    }
}

/// The bounds of a sum, difference or product, if they are integers of the language.
pub(super) fn exact(operator: Checked, a: Option<Range>, b: Option<Range>) -> Option<Range> {
    let ((a, b), (c, d)) = (a?, b?);
    match operator {
        Checked::Add => Some((a.checked_add(c)?, b.checked_add(d)?)),
        Checked::Subtract => Some((a.checked_sub(d)?, b.checked_sub(c)?)),
        Checked::Multiply => {
            let corners = [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
            Some((*corners.iter().min()?, *corners.iter().max()?))
        }
        Checked::Div | Checked::Mod => None,
    }
}

/// The range of the result of an operation that can't fail. What wraps around has one if it is known not to.
pub(super) fn wrapping(op: Op, a: Option<Range>, b: Option<Range>) -> Option<Range> {
    match op {
        Op::And => and(a, b),
        Op::Or => or(a?, b?),
        Op::Xor => xor(a?, b?),
        Op::Shift => shift(a, b?),
        Op::Add => exact(Checked::Add, a, b),
        Op::Subtract => exact(Checked::Subtract, a, b),
        Op::Multiply => exact(Checked::Multiply, a, b),
        _ => None,
    }
}

/// No bit is set that isn't set in both: one operand that isn't negative is a bound.
fn and(a: Option<Range>, b: Option<Range>) -> Option<Range> {
    let highest = |range: Option<Range>| range.filter(|&(low, _)| low >= 0).map(|(_, high)| high);
    match (highest(a), highest(b)) {
        (Some(a), Some(b)) => Some((0, a.min(b))),
        (a, b) => a.or(b).map(|high| (0, high)),
    }
}

fn or((a, b): Range, (c, d): Range) -> Option<Range> {
    (a >= 0 && c >= 0).then(|| (a.max(c), ones(b | d)))
}

fn xor((a, b): Range, (c, d): Range) -> Option<Range> {
    match (c, d) {
        (-1, -1) => Some((!b, !a)),
        _ => (a >= 0 && c >= 0).then(|| (0, ones(b | d))),
    }
}

/// By a constant distance.
fn shift(a: Option<Range>, (by, most): Range) -> Option<Range> {
    match by {
        _ if by != most => None,
        ..-63 | 64.. => Some((0, 0)),
        -63..0 => match a {
            Some((low @ 0.., high)) => Some((low >> -by, high >> -by)),
            _ => Some((0, (u64::MAX >> -by) as i64)),
        },
        0..63 => exact(Checked::Multiply, a, Some((1 << by, 1 << by))),
        63 => None,
    }
}

/// The least number above or equal that has no bit 0 after its first 1.
fn ones(value: i64) -> i64 {
    (u64::MAX.checked_shr(value.leading_zeros()).unwrap_or(0)) as i64
}
