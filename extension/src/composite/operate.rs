//! Computes operations, for the interpreter of trees and for the helpers of bytecode alike. REALs are passed as their
//! bits.

use alloc::vec;
use alloc::vec::Vec;

use drystone_component::{bits, number};

use super::fault::Fault;
use super::tree::{Operation, order};
use super::value::Text;

/// Of INTEGERs.
pub fn integer(operation: Operation, a: i64, b: i64) -> Result<i64, Fault> {
    use Operation::*;
    let exact = match operation {
        Negate => a.checked_neg(),
        Add => a.checked_add(b),
        Subtract => a.checked_sub(b),
        Multiply => a.checked_mul(b),
        Min => Some(a.min(b)),
        Max => Some(a.max(b)),
        Div | Mod if b == 0 => return Err(Fault::DivisionByZero),
        Div => a.checked_div(b).map(|quotient| quotient - i64::from(a % b != 0 && (a < 0) != (b < 0))),
        Mod => {
            let remainder = a.wrapping_rem(b);
            Some(if remainder != 0 && (remainder < 0) != (b < 0) { remainder + b } else { remainder })
        }
        BitAnd => Some(a & b),
        BitOr => Some(a | b),
        BitXor => Some(a ^ b),
        BitNot => Some(!a),
        Shift => Some(bits::shift(a, b)),
        Rotate => Some(bits::rotate(a, b)),
        AddWrap => Some(a.wrapping_add(b)),
        SubtractWrap => Some(a.wrapping_sub(b)),
        MultiplyWrap => Some(a.wrapping_mul(b)),
        _ => unreachable!("{operation:?} is no operation on INTEGERs"),
    };
    exact.ok_or(Fault::Overflow)
}

/// Of REALs.
pub fn real(operation: Operation, a: f64, b: f64) -> f64 {
    use Operation::*;
    match operation {
        NegateReal => -a,
        AddReal => a + b,
        SubtractReal => a - b,
        MultiplyReal => a * b,
        DivideReal => a / b,
        // As IEEE 754's `minimum`, and as compiled programs of the language.
        MinReal | MaxReal if a.is_nan() || b.is_nan() => f64::NAN,
        MinReal if a == b => f64::from_bits(a.to_bits() | b.to_bits()),
        MaxReal if a == b => f64::from_bits(a.to_bits() & b.to_bits()),
        MinReal => a.min(b),
        MaxReal => a.max(b),
        Sqrt => libm::sqrt(a),
        Sin => libm::sin(a),
        Cos => libm::cos(a),
        Tan => libm::tan(a),
        Arcsin => libm::asin(a),
        Arccos => libm::acos(a),
        Arctan => libm::atan(a),
        _ => unreachable!("{operation:?} is no operation on REALs"),
    }
}

/// `INTEGER(r)`
pub fn real_to_integer(real: f64) -> Result<i64, Fault> {
    let floor = libm::floor(real);
    // 2^63 is no INTEGER; NaN is in no range.
    let inside = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&floor);
    if inside { Ok(floor as i64) } else { Err(Fault::InvalidConversion) }
}

/// The order of two REALs, as a bit of [`super::Comparison::orders`].
pub fn order_of_reals(a: f64, b: f64) -> u64 {
    order::of(a.partial_cmp(&b))
}

/// The order of two TEXTs, as a bit of [`super::Comparison::orders`].
pub fn order_of_texts(a: &[u8], b: &[u8]) -> u64 {
    order::of(Some(a.cmp(b)))
}

/// `t[i]`
pub fn byte_of(text: &[u8], index: i64) -> Result<u8, Fault> {
    let byte = usize::try_from(index).ok().and_then(|index| text.get(index));
    byte.copied().ok_or(Fault::IndexOutOfBounds)
}

/// `SLICE(t, from, n)`
pub fn slice(text: &Text, from: i64, count: i64) -> Result<Text, Fault> {
    let place = |number: i64| usize::try_from(number).ok();
    let part = || {
        let (from, count) = (place(from)?, place(count)?);
        text.get(from..from.checked_add(count)?)
    };
    match part() {
        Some(all) if all.len() == text.len() => Ok(text.clone()),
        Some(part) => Ok(part.into()),
        None => Err(Fault::IndexOutOfBounds),
    }
}

/// `FIND(t, part, from)`
pub fn find(text: &[u8], part: &[u8], from: i64) -> Result<i64, Fault> {
    let rest = usize::try_from(from).ok().and_then(|from| text.get(from..)).ok_or(Fault::IndexOutOfBounds)?;
    Ok(memchr::memmem::find(rest, part).map_or(-1, |at| from + at as i64))
}

/// `NEW(t, n)`; `most` is how many there may be.
pub fn zeros(count: i64, most: usize) -> Result<Text, Fault> {
    let count = usize::try_from(count).map_err(|_| Fault::InvalidArgument)?;
    if count > most { Err(Fault::OutOfMemory) } else { Ok(vec![0; count].into()) }
}

/// `TEXT(x)`, of what is kept in a word.
pub fn written(operation: Operation, word: u64) -> Text {
    let bytes: Vec<u8> = match operation {
        Operation::CharacterToText => [word as u8].into(),
        Operation::IntegerToText => number::integer(word as i64).as_bytes().into(),
        Operation::RealToText => number::real(f64::from_bits(word)).as_bytes().into(),
        Operation::BooleanToText => number::boolean(word != 0).into(),
        _ => unreachable!("{operation:?} writes nothing"),
    };
    bytes.into()
}

/// `NUMBER(t, x)`: the word of the number that a text spells.
pub fn number(text: &[u8], real: bool) -> Option<u64> {
    if real {
        number::parse_real(text).map(f64::to_bits)
    } else {
        number::parse_integer(text).map(|it| it as u64)
    }
}
