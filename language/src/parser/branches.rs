//! Branches of other languages: other words for ELSIF, and IF as an expression.

use super::blocks::{CLAUSES, STATEMENTS};
use super::state::{Parsed, Parser};
use crate::lexer::{Keyword, Symbol, TokenKind};

/// Words for ELSIF.
const ELSIFS: &[&str] = &["elif", "elseif", "elsif"];

impl Parser<'_> {
    /// Whether another language's word for ELSIF stands here, with a condition and THEN behind it, and ELSIF is among
    /// the `clauses` that may follow.
    pub(super) fn at_foreign_elsif(&self, clauses: &[Keyword]) -> bool {
        clauses.contains(&Keyword::Elsif)
            && self.at(TokenKind::Name)
            && self.is_among(self.position, ELSIFS)
            && self.end_of_condition(self.position + 1) == Some(Keyword::Then.into())
    }

    /// Skips such a word. Gives whether there is one.
    pub(super) fn foreign_elsif(&mut self) -> bool {
        let is_there = self.at_foreign_elsif(&[Keyword::Elsif]);
        if is_there {
            let _: Parsed<()> = self.unexpected("`ELSIF`, `ELSE` or `END`");
            self.advance();
        }
        is_there
    }

    /// Whether IF, or another language's word for such statements, stands where an expression should be.
    pub(super) fn at_block_as_expression(&self) -> bool {
        let is_foreign = || {
            self.kind_after(1) == TokenKind::Name
                && !self.begins_line(self.position + 1)
                && self.begins_block(self.position)
        };
        (self.at(Keyword::If) || is_foreign()) && !self.on_a_new_line()
    }

    /// Skips such an expression.
    pub(super) fn block_as_expression<T>(&mut self) -> Parsed<T> {
        let help = "IF is a statement and has no value: IF c THEN x := 1 ELSE x := 2 END";
        let result = self.unexpected_with_help("an expression", help);
        if let Some(end) = self.behind_end_of_block() {
            self.skip_to(end);
        }
        result
    }

    /// The keyword that ends the condition that begins there.
    pub(super) fn end_of_condition(&self, from: usize) -> Option<TokenKind> {
        let ends = |&at: &usize| match self.tokens[at].kind {
            TokenKind::Keyword(keyword) => CLAUSES.contains(&keyword) || STATEMENTS.contains(&keyword),
            kind => kind == Symbol::Semicolon.into(),
        };
        self.ahead_of(from).find(ends).map(|at| self.tokens[at].kind)
    }
}
