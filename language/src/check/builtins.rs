//! Calls of predeclared functions, computed where the arguments are constant.

use drystone_component::bits;

use crate::program::{Builtin, Expression, ExpressionKind, Type};
use crate::source::Span;

use super::conversions::{is_literal, literal};

/// A predeclared function, or its value where the arguments are constant.
pub(super) fn builtin(function: Builtin, arguments: Vec<Expression>, ty: Type, span: Span) -> Expression {
    if arguments.iter().all(is_literal)
        && let Some(value) = fold(function, &arguments)
    {
        return literal(value, span);
    }
    Expression { kind: ExpressionKind::Builtin(function, arguments), ty, span }
}

fn fold(function: Builtin, arguments: &[Expression]) -> Option<ExpressionKind> {
    use ExpressionKind::{Boolean, Character, Integer, Real, Text};
    let kinds: Vec<&ExpressionKind> = arguments.iter().map(|argument| &argument.kind).collect();
    Some(match (function, &kinds[..]) {
        (Builtin::Length, [Text(text)]) => Integer(text.len() as i64),
        (Builtin::Sqrt, [Real(x)]) => Real(x.sqrt()),
        (Builtin::MinInteger, [Integer(a), Integer(b)]) => Integer(*a.min(b)),
        (Builtin::MaxInteger, [Integer(a), Integer(b)]) => Integer(*a.max(b)),
        (Builtin::BitAnd, [Integer(a), Integer(b)]) => Integer(a & b),
        (Builtin::BitOr, [Integer(a), Integer(b)]) => Integer(a | b),
        (Builtin::BitXor, [Integer(a), Integer(b)]) => Integer(a ^ b),
        (Builtin::BitNot, [Integer(a)]) => Integer(!a),
        (Builtin::Shift, [Integer(x), Integer(n)]) => Integer(bits::shift(*x, *n)),
        (Builtin::Rotate, [Integer(x), Integer(n)]) => Integer(bits::rotate(*x, *n)),
        (Builtin::AddWrap, [Integer(a), Integer(b)]) => Integer(a.wrapping_add(*b)),
        (Builtin::SubtractWrap, [Integer(a), Integer(b)]) => Integer(a.wrapping_sub(*b)),
        (Builtin::MultiplyWrap, [Integer(a), Integer(b)]) => Integer(a.wrapping_mul(*b)),
        (Builtin::IntegerToCharacter, [Integer(code)]) => Character(u8::try_from(*code).ok()?),
        (Builtin::CharacterToInteger, [Character(code)]) => Integer(i64::from(*code)),
        (Builtin::BooleanToInteger, [Boolean(value)]) => Integer(i64::from(*value)),
        (Builtin::RealToInteger, [Real(value)]) => Integer(whole(*value)?),
        (Builtin::IntegerToText, [Integer(value)]) => Text(value.to_string().into_bytes()),
        (Builtin::BooleanToText, [Boolean(value)]) => {
            Text(if *value { b"TRUE".to_vec() } else { b"FALSE".to_vec() })
        }
        _ => return None,
    })
}

/// A REAL rounded down, if that fits.
pub(super) fn whole(value: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let floor = value.floor();
    (-LIMIT..LIMIT).contains(&floor).then_some(floor as i64)
}
