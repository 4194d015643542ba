//! Spaces between tokens, and the cost of a line break before each.

use super::Item;
use crate::lexer::{Keyword, Symbol, TokenKind};

/// Whether a space precedes `next`, where `before` are the tokens of the line before it.
pub(super) fn space_between(before: &[Item<'_>], next: &Item<'_>) -> bool {
    let [.., previous] = before else { return false };
    let (Some(left), Some(right)) = (previous.token, next.token) else {
        return !previous.is(Symbol::LeftParenthesis) && !next.token.is_some_and(glued_to_previous);
    };
    // `CASE s? OF`
    let before_of = left == Symbol::Receive.into() && right == Keyword::Of.into();
    if glued_to_next(left) && !before_of || glued_to_previous(right) {
        return false;
    }
    match right {
        TokenKind::Symbol(Symbol::LeftParenthesis | Symbol::LeftBracket) => {
            !matches!(left, TokenKind::Name | TokenKind::Keyword(Keyword::Any))
                && !(left == Symbol::RightBracket.into())
        }
        TokenKind::Symbol(Symbol::Send | Symbol::Receive) => !ends_operand(left),
        _ => !is_sign(before),
    }
}

fn glued_to_next(left: TokenKind) -> bool {
    matches!(
        left,
        TokenKind::Symbol(
            Symbol::LeftParenthesis
                | Symbol::LeftBracket
                | Symbol::LeftBrace
                | Symbol::Not
                | Symbol::Send
                | Symbol::Receive
                | Symbol::Range
                | Symbol::Period
        )
    )
}

fn glued_to_previous(right: TokenKind) -> bool {
    matches!(
        right,
        TokenKind::Symbol(
            Symbol::RightParenthesis
                | Symbol::RightBracket
                | Symbol::RightBrace
                | Symbol::Comma
                | Symbol::Semicolon
                | Symbol::Colon
                | Symbol::Range
                | Symbol::Period
        )
    )
}

fn ends_operand(left: TokenKind) -> bool {
    match left {
        TokenKind::Symbol(symbol) => matches!(symbol, Symbol::RightParenthesis | Symbol::RightBracket),
        TokenKind::Keyword(keyword) => matches!(keyword, Keyword::Any | Keyword::Finish),
        _ => true,
    }
}

/// Whether the line so far ends with a sign, not with an operator.
fn is_sign(before: &[Item<'_>]) -> bool {
    let mut tokens = before.iter().rev().filter_map(|item| item.token);
    let last = tokens.next();
    let is_plus_or_minus = matches!(last, Some(TokenKind::Symbol(Symbol::Plus | Symbol::Minus)));
    is_plus_or_minus && !tokens.next().is_some_and(ends_operand)
}

/// The cost of a line break before `next`, ignoring parentheses; `None` if `next` may not begin a line.
pub(super) fn reluctance(before: &[Item<'_>], next: &Item<'_>) -> Option<usize> {
    let previous = before.last()?;
    if previous.is(Symbol::Comma) || previous.is(Symbol::Semicolon) {
        return (!next.is_comment()).then_some(1);
    }
    match next.token? {
        TokenKind::Keyword(Keyword::Offers | Keyword::Requires | Keyword::By | Keyword::At | Keyword::To) => {
            Some(0)
        }
        TokenKind::Symbol(Symbol::Bar) => Some(1),
        TokenKind::Keyword(Keyword::Or) => Some(2),
        TokenKind::Keyword(Keyword::And) => Some(3),
        TokenKind::Symbol(
            Symbol::Equal
            | Symbol::NotEqual
            | Symbol::Less
            | Symbol::LessEqual
            | Symbol::Greater
            | Symbol::GreaterEqual,
        ) => Some(4),
        TokenKind::Symbol(Symbol::Plus | Symbol::Minus) if ends_operand(previous.token?) => Some(5),
        _ => None,
    }
}

/// The cost that each level of parentheses adds. It exceeds every cost without parentheses.
pub(super) const DEEPER: usize = 8;
