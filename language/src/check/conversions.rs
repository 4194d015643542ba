//! Makes implicit conversions explicit: INTEGER to REAL, CHARACTER to TEXT, a string of length one to CHARACTER.

use crate::ast;
use crate::program::{Builtin, Expression, ExpressionKind, Type};
use crate::source::{Diagnostic, Span};

use super::body::BodyChecker;

/// A constant, with its type.
pub(super) fn literal(kind: ExpressionKind, span: Span) -> Expression {
    let ty = match kind {
        ExpressionKind::Boolean(_) => Type::Boolean,
        ExpressionKind::Character(_) => Type::Character,
        ExpressionKind::Real(_) => Type::Real,
        ExpressionKind::Text(_) => Type::Text,
        _ => Type::Integer,
    };
    Expression { kind, ty, span }
}

pub(super) fn is_literal(expression: &Expression) -> bool {
    matches!(
        expression.kind,
        ExpressionKind::Boolean(_)
            | ExpressionKind::Character(_)
            | ExpressionKind::Integer(_)
            | ExpressionKind::Real(_)
            | ExpressionKind::Text(_)
    )
}

/// A constant text that can also be a CHARACTER.
pub(super) fn is_one_character(expression: &Expression) -> bool {
    matches!(&expression.kind, ExpressionKind::Text(bytes) if bytes.len() == 1)
}

/// The value of a constant INTEGER expression.
pub(super) fn constant_integer(expression: &Expression) -> Option<i64> {
    match expression.kind {
        ExpressionKind::Integer(value) => Some(value),
        _ => None,
    }
}

/// The expression converted to `ty`, if there is an implicit conversion. If not, the expression as it was; its type
/// tells which.
pub(super) fn convert(expression: Expression, ty: &Type) -> Expression {
    let span = expression.span;
    match (&expression.kind, &expression.ty, ty) {
        (ExpressionKind::Integer(value), _, Type::Real) => literal(ExpressionKind::Real(*value as f64), span),
        (_, Type::Integer, Type::Real) => builtin(Builtin::IntegerToReal, expression, Type::Real),
        (ExpressionKind::Text(bytes), _, Type::Character) if bytes.len() == 1 => {
            literal(ExpressionKind::Character(bytes[0]), span)
        }
        (ExpressionKind::Character(code), _, Type::Text) => literal(ExpressionKind::Text(vec![*code]), span),
        (_, Type::Character, Type::Text) => builtin(Builtin::CharacterToText, expression, Type::Text),
        _ => expression,
    }
}

fn builtin(function: Builtin, argument: Expression, ty: Type) -> Expression {
    let span = argument.span;
    Expression { kind: ExpressionKind::Builtin(function, vec![argument]), ty, span }
}

/// What is within parentheses.
fn without_groups(tree: &ast::Expression) -> &ast::Expression {
    match &tree.kind {
        ast::ExpressionKind::Group(inner) => without_groups(inner),
        _ => tree,
    }
}

impl BodyChecker<'_> {
    /// Checks an expression that must be of a type, or convert to it.
    pub(super) fn expression_of(&mut self, tree: &ast::Expression, ty: &Type) -> Option<Expression> {
        let expression = match (without_groups(tree), ty) {
            (ast::Expression { kind: ast::ExpressionKind::List(elements), .. }, Type::Sequence(element)) => {
                self.list(elements, element, tree.span)?
            }
            _ => self.expression(tree)?,
        };
        self.converted(expression, ty)
    }

    /// The expression as one of type `ty`; an error if there is no implicit conversion.
    pub(super) fn converted(&mut self, expression: Expression, ty: &Type) -> Option<Expression> {
        let expression = convert(expression, ty);
        if expression.ty != *ty {
            self.mismatch(&expression, ty);
            return None;
        }
        Some(expression)
    }

    /// Reports a value of the wrong type.
    pub(super) fn mismatch(&mut self, value: &Expression, expected: &Type) {
        let (span, found) = (value.span, &value.ty);
        let (wanted, given) = (self.known.type_name(expected), self.known.type_name(found));
        let error = Diagnostic::new("type-mismatch", span, format!("expected {wanted}, found {given}"))
            .label(format!("is {given}"));
        let help = match (found, expected) {
            _ if matches!(value.kind, ExpressionKind::ReceiveTest(..)) => Some(
                "in an expression it tells whether the message comes next: x?M(n), a statement, receives it into n",
            ),
            (Type::Real, Type::Integer) => Some("INTEGER(x) rounds down to an INTEGER"),
            (Type::Character | Type::Boolean, Type::Integer) => Some("INTEGER(x) gives its number"),
            (Type::Integer, Type::Character) => Some("CHARACTER(n) gives the character with that number"),
            (Type::Text, Type::Character) => Some("t[i] is a character of a text"),
            (Type::Text, Type::Integer | Type::Real) => Some("NUMBER(t, x) reads a number from a text"),
            (Type::Integer | Type::Real | Type::Boolean, Type::Text) => Some("TEXT(x) gives it as a text"),
            (Type::Integer, Type::Boolean) => Some("compare it: x # 0"),
            _ => None,
        };
        self.report(match help {
            Some(help) => error.help(help),
            None => error,
        });
    }
}
