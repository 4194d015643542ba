//! Operators and predeclared functions, with their run-time errors.

use std::cmp::Ordering;

use drystone_language::program::{Binary, Builtin, Comparison, Type, Unary};

use super::outcome::Kind;
use super::value::Value;
use crate::random::Random;

type Computed = Result<Value, Kind>;

/// An operator with one operand.
pub(super) fn unary(operator: Unary, operand: Value) -> Computed {
    match operator {
        Unary::Not => Ok(Value::Boolean(!operand.boolean())),
        Unary::NegateInteger => integer(operand.integer().checked_neg()),
        Unary::NegateReal => Ok(Value::Real(-operand.real())),
    }
}

/// An operator with two operands, both of which have been evaluated.
pub(super) fn binary(operator: Binary, left: Value, right: Value) -> Computed {
    match operator {
        Binary::And | Binary::Or => unreachable!("evaluated only as far as needed"),
        Binary::AddInteger => integer(left.integer().checked_add(right.integer())),
        Binary::SubtractInteger => integer(left.integer().checked_sub(right.integer())),
        Binary::MultiplyInteger => integer(left.integer().checked_mul(right.integer())),
        Binary::Div | Binary::Mod => {
            let (a, b) = (i128::from(left.integer()), i128::from(right.integer()));
            if b == 0 {
                return Err(Kind::DivisionByZero);
            }
            let (quotient, remainder) = floored(a, b);
            let exact = if operator == Binary::Div { quotient } else { remainder };
            integer(i64::try_from(exact).ok())
        }
        Binary::AddReal => Ok(Value::Real(left.real() + right.real())),
        Binary::SubtractReal => Ok(Value::Real(left.real() - right.real())),
        Binary::MultiplyReal => Ok(Value::Real(left.real() * right.real())),
        Binary::DivideReal => Ok(Value::Real(left.real() / right.real())),
        Binary::Join => Ok(Value::Sequence([elements(&left), elements(&right)].concat())),
        Binary::Concatenate => Ok(Value::Text([left.text(), right.text()].concat())),
        Binary::Compare(comparison) => Ok(Value::Boolean(compare(comparison, &left, &right))),
    }
}

fn floored(a: i128, b: i128) -> (i128, i128) {
    let remainder = a.rem_euclid(b.abs());
    let remainder = if b < 0 && remainder != 0 { remainder + b } else { remainder };
    ((a - remainder) / b, remainder)
}

fn compare(comparison: Comparison, left: &Value, right: &Value) -> bool {
    let order = match (left, right) {
        (Value::Boolean(a), Value::Boolean(b)) => Some(a.cmp(b)),
        (Value::Character(a), Value::Character(b)) => Some(a.cmp(b)),
        (Value::Integer(a), Value::Integer(b)) => Some(a.cmp(b)),
        (Value::Real(a), Value::Real(b)) => a.partial_cmp(b),
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        (Value::Record(_), Value::Record(_)) | (Value::Sequence(_), Value::Sequence(_)) => {
            (left == right).then_some(Ordering::Equal)
        }
        other => unreachable!("checked: {other:?} are not compared"),
    };
    match comparison {
        Comparison::Equal => order == Some(Ordering::Equal),
        Comparison::NotEqual => order != Some(Ordering::Equal),
        Comparison::Less => order == Some(Ordering::Less),
        Comparison::LessEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Comparison::Greater => order == Some(Ordering::Greater),
        Comparison::GreaterEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

/// Predeclared functions.
pub(super) fn builtin(function: Builtin, arguments: &[Value], time: i64, random: &mut Random) -> Computed {
    let real = |apply: fn(f64) -> f64| Ok(Value::Real(apply(arguments[0].real())));
    let whole = |apply: fn(i64, i64) -> i64| {
        Ok(Value::Integer(apply(arguments[0].integer(), arguments[1].integer())))
    };
    match function {
        Builtin::Time => Ok(Value::Integer(time)),
        Builtin::Length => Ok(Value::Integer(arguments[0].text().len() as i64)),
        Builtin::Sqrt => real(f64::sqrt),
        Builtin::Sin => real(f64::sin),
        Builtin::Cos => real(f64::cos),
        Builtin::Tan => real(f64::tan),
        Builtin::Arcsin => real(f64::asin),
        Builtin::Arccos => real(f64::acos),
        Builtin::Arctan => real(f64::atan),
        Builtin::MinInteger => Ok(Value::Integer(arguments[0].integer().min(arguments[1].integer()))),
        Builtin::MaxInteger => Ok(Value::Integer(arguments[0].integer().max(arguments[1].integer()))),
        Builtin::BitAnd => whole(|a, b| a & b),
        Builtin::BitOr => whole(|a, b| a | b),
        Builtin::BitXor => whole(|a, b| a ^ b),
        Builtin::BitNot => Ok(Value::Integer(-1 - arguments[0].integer())),
        Builtin::Shift => whole(shifted),
        Builtin::Rotate => whole(|x, n| {
            let n = n.rem_euclid(64);
            if n == 0 { x } else { shifted(x, n) + shifted(x, n - 64) }
        }),
        Builtin::AddWrap => whole(|a, b| (i128::from(a) + i128::from(b)) as i64),
        Builtin::SubtractWrap => whole(|a, b| (i128::from(a) - i128::from(b)) as i64),
        Builtin::MultiplyWrap => whole(|a, b| (i128::from(a) * i128::from(b)) as i64),
        Builtin::MinReal => Ok(Value::Real(arguments[0].real().min(arguments[1].real()))),
        Builtin::MaxReal => Ok(Value::Real(arguments[0].real().max(arguments[1].real()))),
        Builtin::Random => match (arguments[0].integer(), arguments[1].integer()) {
            (low, high) if low <= high => Ok(Value::Integer(random.range(low, high))),
            _ => Err(Kind::InvalidArgument),
        },
        Builtin::IntegerToCharacter => {
            u8::try_from(arguments[0].integer()).map(Value::Character).map_err(|_| Kind::InvalidConversion)
        }
        Builtin::CharacterToInteger => Ok(Value::Integer(arguments[0].character().into())),
        Builtin::BooleanToInteger => Ok(Value::Integer(arguments[0].boolean().into())),
        Builtin::RealToInteger => {
            let floor = arguments[0].real().floor();
            // 2^63 itself is not an INTEGER; NaN is in no range.
            let inside = (-(2f64.powi(63))..2f64.powi(63)).contains(&floor);
            if inside { Ok(Value::Integer(floor as i64)) } else { Err(Kind::InvalidConversion) }
        }
        Builtin::IntegerToReal => Ok(Value::Real(arguments[0].integer() as f64)),
        Builtin::CharacterToText => Ok(Value::Text(vec![arguments[0].character()])),
        Builtin::IntegerToText | Builtin::RealToText | Builtin::BooleanToText => {
            Ok(Value::Text(arguments[0].written()))
        }
        Builtin::Counted => {
            let text = arguments[0].text();
            Ok(Value::Text([text.len().to_string().as_bytes(), b":", text].concat()))
        }
        Builtin::Elements => Ok(Value::Integer(elements(&arguments[0]).len() as i64)),
        Builtin::Part => {
            let (from, count) = (place(&arguments[1])?, place(&arguments[2])?);
            let end = from.checked_add(count).ok_or(Kind::IndexOutOfBounds)?;
            let part = elements(&arguments[0]).get(from..end).ok_or(Kind::IndexOutOfBounds)?;
            Ok(Value::Sequence(part.to_vec()))
        }
        Builtin::Sorted => {
            let mut pairs: Vec<_> = elements(&arguments[1]).iter().zip(elements(&arguments[0])).collect();
            pairs.sort_by(|(a, _), (b, _)| order_of_keys(a, b));
            Ok(Value::Sequence(pairs.into_iter().map(|(_, element)| element.clone()).collect()))
        }
        Builtin::Slice => {
            let (from, count) = (place(&arguments[1])?, place(&arguments[2])?);
            let end = from.checked_add(count).ok_or(Kind::IndexOutOfBounds)?;
            let part = arguments[0].text().get(from..end).ok_or(Kind::IndexOutOfBounds)?;
            Ok(Value::Text(part.to_vec()))
        }
        Builtin::Find => {
            let (text, part, from) = (arguments[0].text(), arguments[1].text(), place(&arguments[2])?);
            let rest = text.get(from..).ok_or(Kind::IndexOutOfBounds)?;
            let found = (0..=rest.len()).find(|&at| rest[at..].starts_with(part));
            Ok(Value::Integer(found.map_or(-1, |at| (from + at) as i64)))
        }
    }
}

fn elements(sequence: &Value) -> &[Value] {
    match sequence {
        Value::Sequence(elements) => elements,
        other => panic!("{other:?} is no sequence"),
    }
}

/// The order by which SORT sorts. A REAL that is no number comes last.
fn order_of_keys(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Real(a), Value::Real(b)) => a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan())),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (a, b) => number_of_key(a).cmp(&number_of_key(b)),
    }
}

fn number_of_key(key: &Value) -> i64 {
    match key {
        Value::Boolean(x) => i64::from(*x),
        Value::Character(x) => i64::from(*x),
        other => other.integer(),
    }
}

/// `SHIFT(x, n)`, one place after the other.
fn shifted(x: i64, n: i64) -> i64 {
    let places = 0..n.unsigned_abs().min(64);
    let step = |bits: u64| if n < 0 { bits / 2 } else { bits.wrapping_add(bits) };
    places.fold(x as u64, |bits, _| step(bits)) as i64
}

/// `NUMBER(t, x)`: the number in the text, by the lexical rules, with an optional sign.
pub(super) fn number(text: &[u8], ty: &Type) -> Option<Value> {
    let text = std::str::from_utf8(text).ok()?;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    if digits.contains(|letter: char| letter.is_ascii_lowercase()) {
        return None;
    }
    let integer = match text.strip_suffix('H') {
        Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16).ok(),
        None => text.parse().ok(),
    };
    if *ty == Type::Integer {
        return integer.map(Value::Integer);
    }
    if digits.ends_with('H') {
        return integer.map(|integer| Value::Real(integer as f64));
    }
    let has_point = digits.split('E').next().is_some_and(|mantissa| mantissa.contains('.'));
    if digits.contains('E') && !has_point {
        return None;
    }
    text.parse().ok().filter(|real: &f64| real.is_finite()).map(Value::Real)
}

fn integer(exact: Option<i64>) -> Computed {
    exact.map(Value::Integer).ok_or(Kind::Overflow)
}

fn place(value: &Value) -> Result<usize, Kind> {
    usize::try_from(value.integer()).map_err(|_| Kind::IndexOutOfBounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_as_in_programs() {
        let integer = |text: &str| number(text.as_bytes(), &Type::Integer).map(|value| value.integer());
        let spelled = ["0FFH", "-0AH", "FFH", "0ffH", "12", "+7", "1.0"].map(integer);
        assert_eq!(spelled, [Some(255), Some(-10), None, None, Some(12), Some(7), None]);
        let is_real = |text: &str| number(text.as_bytes(), &Type::Real).is_some();
        let real = ["0FFH", "1.5E3", "1E3", "1.5e3", "1.5E999", "12", "2."].map(is_real);
        assert_eq!(real, [true, true, false, false, false, true, true]);
    }

    #[test]
    fn division_floors_and_the_remainder_has_the_sign_of_the_divisor() {
        let pairs = [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, -3)];
        let floored: Vec<_> = pairs.into_iter().map(|(a, b)| floored(a, b)).collect();
        assert_eq!(floored, [(3, 1), (-4, 1), (-4, -1), (3, -1), (-2, 0)]);
    }
}
