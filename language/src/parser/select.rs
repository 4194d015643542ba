//! SELECT. Neither that word nor AFTER is reserved: something of the program may be called so.

use super::cases::{Branches, CASE, ends};
use super::state::{Parsed, Parser};
use crate::ast::{Alternative, StatementKind};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::source::Diagnostic;

/// The word.
const SELECT: &str = "SELECT";

/// Begins a branch for a condition.
const AWAIT: &str = "AWAIT";
/// Begins a branch for a time.
const AFTER: &str = "AFTER";

/// Whether a statement that begins with a name is a SELECT statement: another name follows, or the head of a branch,
/// which ends with a colon. (`SELECT?Get(key)` receives from something that is called SELECT.)
pub(crate) fn is_select<'t>(name: &str, behind: impl IntoIterator<Item = (TokenKind, &'t str)>) -> bool {
    if name != SELECT {
        return false;
    }
    let mut behind = behind.into_iter().peekable();
    if matches!(behind.peek(), Some((TokenKind::Name, _))) {
        return true;
    }
    let has_bar = behind.next_if(|(kind, _)| *kind == Symbol::Bar.into()).is_some();
    match behind.peek().copied() {
        // What stands behind a bar may be a label of a CASE around it.
        Some((TokenKind::Name, AWAIT | AFTER)) if has_bar => {
            let label_ends = [Symbol::Colon, Symbol::Comma, Symbol::Range].map(TokenKind::from);
            behind.nth(1).is_some_and(|(kind, _)| !label_ends.contains(&kind))
        }
        Some((TokenKind::Name, _)) if has_bar => receives(behind.map(|(kind, _)| kind)),
        Some((TokenKind::Symbol(Symbol::Receive), _)) => receives(behind.map(|(kind, _)| kind)),
        _ => false,
    }
}

/// Whether the head of a branch for what arrives begins there: `?` and a colon stand outside parentheses.
fn receives(behind: impl IntoIterator<Item = TokenKind>) -> bool {
    let (mut open, mut found) = (0_usize, false);
    for kind in behind {
        match kind {
            TokenKind::Symbol(Symbol::LeftParenthesis | Symbol::LeftBracket) => open += 1,
            TokenKind::Symbol(Symbol::RightParenthesis | Symbol::RightBracket) => {
                open = open.saturating_sub(1);
            }
            TokenKind::Symbol(Symbol::Colon) if open == 0 => return found,
            TokenKind::Symbol(Symbol::Receive) => found |= open == 0,
            kind if ends(kind) => return false,
            _ => {}
        }
    }
    false
}

impl Parser<'_> {
    /// Whether a SELECT statement begins here.
    pub(super) fn at_select(&self) -> bool {
        self.at(TokenKind::Name) && self.is_select_at(self.position)
    }

    /// Whether the name there begins a SELECT statement.
    pub(super) fn is_select_at(&self, at: usize) -> bool {
        let behind = self.tokens[at + 1..].iter().map(|token| (token.kind, self.text_of(*token)));
        is_select(self.text_at(at), behind) && !self.is_select_case(at + 1)
    }

    /// Whether CASE and a value stand there, as in BASIC.
    fn is_select_case(&self, at: usize) -> bool {
        let is_channel = [Symbol::Receive, Symbol::LeftParenthesis, Symbol::LeftBracket, Symbol::Period];
        self.text_at(at) == CASE && !is_channel.iter().any(|&symbol| self.kind_at(at + 1) == symbol.into())
    }

    pub(super) fn select_statement(&mut self) -> Parsed<Option<StatementKind>> {
        let opening = self.advance().span;
        let (branches, otherwise): Branches<Alternative> = self.branches(Parser::alternative)?;
        if let Some(block) = otherwise {
            let error = Diagnostic::new("unexpected-token", block.span, "a SELECT has no ELSE");
            self.report(error.help("`| AFTER 0: ..` is for nothing else being there"));
        }
        self.end_of_structure(opening)?;
        Ok(branches.map(StatementKind::Select))
    }

    /// `[ designator ] "?" arrival | "AWAIT" "(" expression ")" | "AFTER" expression`
    fn alternative(&mut self) -> Parsed<Alternative> {
        let arrives = receives(self.tokens[self.position..].iter().map(|token| token.kind));
        if !arrives && self.at(TokenKind::Name) {
            match self.text_of(self.token()) {
                AWAIT if self.kind_after(1) == Symbol::LeftParenthesis.into() => {
                    self.position += 2;
                    let condition = self.expression()?;
                    if self.at(Symbol::Comma) {
                        let help = "a branch `| AFTER n: ..` is for the time";
                        return self.unexpected_with_help("`)` after this condition", help);
                    }
                    self.expect(Symbol::RightParenthesis)?;
                    return Ok(Alternative::Await(condition));
                }
                AFTER => {
                    self.advance();
                    return self.expression().map(Alternative::After);
                }
                _ => {}
            }
        }
        let has_channel = !self.at(Symbol::Receive);
        let channel = if has_channel { Some(self.designator()?) } else { None };
        if has_channel && !self.at(Symbol::Receive) {
            let help = "a branch begins with `a?Message(x)`, `a?FINISH`, `AWAIT(c)` or `AFTER n`";
            return self.unexpected_with_help("`?` and a message", help);
        }
        self.expect(Symbol::Receive)?;
        if self.at(Keyword::Any) {
            return self.unexpected_with_help("a message", "each message has a branch of its own");
        }
        Ok(Alternative::Arrival(channel, self.arrival()?))
    }
}
