//! Ranges of arithmetic that can't fail: of bits, and of what wraps around.

use super::{Range, exact};
use crate::mir::{Checked, Op};

/// The range of an operation's result; the range of an operand may be unknown.
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
