//! Blocks, and the recovery from missing semicolons and ENDs. Two facts make the recovery reliable: the END of a unit
//! (a component, procedure, ...) is followed by its name, and the END of a statement never is.

use super::declarations::DECLARATIONS;
use super::state::{Failed, Parsed, Parser};
use crate::ast::Block;
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::source::{Diagnostic, Span};

/// Words that a block never contains, except as the start of a statement's part.
pub(super) const CLAUSES: &[Keyword] = &[
    Keyword::End,
    Keyword::Else,
    Keyword::Elsif,
    Keyword::Until,
    Keyword::Activity,
    Keyword::Finally,
    Keyword::Then,
    Keyword::Do,
];

/// Words that only a statement begins with.
pub(super) const STATEMENTS: &[Keyword] = &[
    Keyword::If,
    Keyword::While,
    Keyword::Repeat,
    Keyword::For,
    Keyword::Foreach,
    Keyword::Begin,
    Keyword::Return,
];

impl Parser<'_> {
    /// The `;` after `COMPONENT Name ..`; goes on if it is missing.
    pub(super) fn semicolon_after_heading(&mut self, what: &str) {
        if !self.accept(Symbol::Semicolon) {
            let _: Parsed<()> = self.missing_semicolon(&format!("the heading of this {what}"));
        }
    }

    /// Reports that a `;` is missing after the token read last.
    pub(super) fn missing_semicolon(&mut self, after: &str) -> Parsed<()> {
        self.report_missing("`;`", after);
        Err(Failed)
    }

    pub(super) fn report_missing(&mut self, expected: &str, after: &str) {
        let message = format!("expected {expected} after {after}, found {}", self.found());
        let diagnostic = if self.on_a_new_line() {
            let end = self.previous().end;
            Diagnostic::new("unexpected-token", Span { start: end, ..self.previous() }, message)
                .label("`;` is missing here")
        } else {
            Diagnostic::new("unexpected-token", self.token().span, message)
        };
        self.report(diagnostic);
    }

    /// Whether the next token stands on a later line than the one read last.
    pub(super) fn on_a_new_line(&self) -> bool {
        let between = self.previous().end as usize..self.token().span.start as usize;
        self.text.get(between).is_some_and(|between| between.contains('\n'))
    }

    /// The block of a component, procedure or implementation.
    pub(super) fn outer_block(&mut self) -> Block {
        self.block(&[Keyword::Activity, Keyword::Finally], Closing::Unit)
    }

    /// A block within a statement; ends before END or one of the `clauses`.
    pub(super) fn inner_block(&mut self, clauses: &[Keyword]) -> Parsed<Block> {
        self.nested(|parser| {
            parser.count_structures(1);
            let block = parser.block(clauses, Closing::Statement);
            parser.count_structures(-1);
            Ok(block)
        })
    }

    /// The block of a branch of CASE or SELECT; ends before `|`, ELSE or END.
    pub(super) fn branch_block(&mut self) -> Parsed<Block> {
        self.open_branches += 1;
        let block = self.inner_block(&[Keyword::Else]);
        self.open_branches -= 1;
        block
    }

    /// Whether `|` ends the blocks that are open, up to that of a branch of CASE or SELECT.
    pub(super) fn at_next_branch(&self) -> bool {
        self.open_branches > 0 && self.at(Symbol::Bar)
    }

    fn count_structures(&mut self, more: i32) {
        if let Some(unit) = self.units.last_mut() {
            unit.open_structures = unit.open_structures.saturating_add_signed(more);
        }
    }

    fn block(&mut self, clauses: &[Keyword], closing: Closing) -> Block {
        let first = self.token().span;
        let lost_before = self.lost_statements;
        let attributes = self.attributes().unwrap_or_else(|Failed| {
            self.skip_statement();
            Vec::new()
        });
        let mut statements = Vec::new();
        while !self.block_ends(clauses, closing) {
            if self.accept(Symbol::Semicolon) {
                continue;
            }
            if self.at_foreign_declaration() {
                self.foreign_declaration_within_block();
                continue;
            }
            if self.foreign_statement() {
                continue;
            }
            let before = self.position;
            match self.statement() {
                Ok(statement) => {
                    // If more follows on its line, another statement was probably meant.
                    if self.end_of_statement(clauses) {
                        statements.extend(statement);
                    } else {
                        self.lost_statements += 1;
                    }
                }
                Err(Failed) => self.skip_statement(),
            }
            if self.position == before {
                self.advance();
            }
        }
        let span = if self.previous().end <= first.start {
            Span { end: first.start, ..first }
        } else {
            self.since(first)
        };
        Block { attributes, statements, span, lost: self.lost_statements > lost_before }
    }

    /// Whether the block ends here; strays (an ELSE without IF, an END too many) are reported and skipped.
    fn block_ends(&mut self, clauses: &[Keyword], closing: Closing) -> bool {
        loop {
            if self.at_end()
                || self.at_any(clauses)
                || self.at_next_branch()
                || self.at_any(DECLARATIONS)
                || self.at_foreign_end()
                || self.at_foreign_elsif(clauses)
            {
                return true;
            }
            if self.at(Keyword::Do) && self.foreign_statement() {
                continue;
            }
            if self.at(Keyword::End) {
                if closing == Closing::Statement || !self.at_stray_end() {
                    return true;
                }
                let message = "this `END` closes nothing";
                let expected = self.end_of_innermost();
                let help = format!("a unit ends with its name: {expected}");
                self.report(Diagnostic::new("unexpected-token", self.token().span, message).help(help));
            } else if self.at_any(CLAUSES) {
                if closing == Closing::Statement && self.at_any(&[Keyword::Activity, Keyword::Finally]) {
                    return true;
                }
                let _: Parsed<()> = self.unexpected("a statement");
            } else {
                return false;
            }
            self.lose_units();
            self.advance();
        }
    }

    /// At END: without a name, and more statements follow.
    fn at_stray_end(&self) -> bool {
        let after = match self.kind_after(1) {
            TokenKind::Symbol(Symbol::Semicolon | Symbol::Period) => self.kind_after(2),
            other => other,
        };
        let ends = match after {
            TokenKind::End => true,
            TokenKind::Keyword(keyword) => DECLARATIONS.contains(&keyword) || keyword == Keyword::Begin,
            _ => false,
        };
        self.kind_after(1) != TokenKind::Name && !ends
    }

    /// Reads the `;` after a statement, unless the block ends. Gives whether the statement ends here, or may, since its
    /// line does.
    fn end_of_statement(&mut self, clauses: &[Keyword]) -> bool {
        let ends = self.at_any(clauses)
            || self.at(Keyword::End)
            || self.at_next_branch()
            || self.at_foreign_end()
            || self.at_foreign_elsif(clauses);
        let lacks_end = self.at_any(DECLARATIONS) || self.at_end(); // reported by whose END it is
        if self.accept(Symbol::Semicolon) || ends || lacks_end {
            return true;
        }
        let closers = match clauses.first() {
            Some(Keyword::Until) => "`UNTIL`",
            Some(Keyword::Elsif) => "`ELSIF`, `ELSE` or `END`",
            Some(Keyword::Else) => "`|`, `ELSE` or `END`",
            _ => "`END`",
        };
        self.report_missing(&format!("`;` or {closers}"), "this statement");
        let ends = self.on_a_new_line();
        if !ends && !self.at_any(STATEMENTS) {
            self.skip_statement();
        }
        ends
    }

    /// After an error: to the next `;`, statement, end of a block, or section.
    pub(super) fn skip_statement(&mut self) {
        self.lost_statements += 1;
        self.skip_until(|parser| {
            parser.at(Symbol::Semicolon)
                || parser.at_any(STATEMENTS)
                || parser.at_any(CLAUSES)
                || parser.at_next_branch()
                || parser.at_foreign_end()
                || parser.at_any(DECLARATIONS)
        });
    }

    /// The END of a statement that began with `opening`. If this END is that of a unit, the statement's own
    /// is missing, and this one is left where it is.
    pub(super) fn end_of_structure(&mut self, opening: Span) -> Parsed<()> {
        let next = self.token_after(1);
        let closes_unit = next.kind == TokenKind::Name
            && self.units.iter().any(|unit| unit.name.text == self.name_ahead(1));
        if self.at(Keyword::End) && !closes_unit {
            self.advance();
            self.repeated_opening();
            return Ok(());
        }
        if self.closes_in_one_word(self.position) {
            self.foreign_end();
            return Ok(());
        }
        let word = &self.text[opening.start as usize..opening.end as usize];
        let found = if closes_unit { format!("`END {}`", self.text_of(next)) } else { self.found() };
        let message = format!("expected `END` of this `{word}`, found {found}");
        let mut diagnostic = Diagnostic::new("unexpected-token", self.token().span, message);
        if word == "IF" && self.has_else_if_since(opening) {
            diagnostic = diagnostic.help("`ELSE IF` opens an IF inside, with an END of its own: write ELSIF");
        }
        self.report(diagnostic.note(opening, format!("this `{word}` is not closed")));
        self.lost_statements += 1;
        if !closes_unit {
            self.lose_units();
        }
        Ok(())
    }

    /// Whether `ELSE IF` stands behind this word.
    fn has_else_if_since(&self, opening: Span) -> bool {
        let begin = self.tokens.partition_point(|token| token.span.start <= opening.start);
        let (r#else, r#if) = (Keyword::Else.into(), Keyword::If.into());
        self.tokens[begin..self.position]
            .windows(2)
            .any(|pair| pair[0].kind == r#else && pair[1].kind == r#if)
    }
}

/// Whose END closes a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Closing {
    Unit,
    Statement,
}
