//! What stands between a heading and its END: sections, blocks, and the recovery from missing semicolons and
//! ENDs. Two facts make that reliable: the END of a component, procedure, ... is followed by its name, and
//! the END of a statement never is followed by a name.

use super::declarations::DECLARATIONS;
use super::{Failed, Parsed, Parser, Unit};
use crate::ast::{Block, Declaration, Name};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::source::{Diagnostic, Span};

/// What a body belongs to: only components have ACTIVITY, FINALLY and implementations.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Component,
    Procedure,
}

/// All between heading and END.
#[derive(Default)]
pub(super) struct Body {
    pub declarations: Vec<Declaration>,
    pub begin: Option<Block>,
    pub activity: Option<Block>,
    pub finally: Option<Block>,
}

/// Words that a block never contains, except as the start of a statement's part.
const CLAUSES: &[Keyword] = &[
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
const STATEMENTS: &[Keyword] = &[
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

    fn report_missing(&mut self, expected: &str, after: &str) {
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

    /// Declarations, BEGIN, ACTIVITY and FINALLY, up to END.
    pub(super) fn body(&mut self, sort: Sort) -> Body {
        let mut body = Body::default();
        loop {
            body.declarations.extend(self.declarations(sort));
            if self.belongs_to_outer_unit(sort, &body) {
                return body;
            }
            self.section(Keyword::Begin, &mut body.begin);
            if sort == Sort::Component {
                self.section(Keyword::Activity, &mut body.activity);
                self.section(Keyword::Finally, &mut body.finally);
            }
            if self.at(Keyword::End) || self.at_end() {
                return body;
            }
            self.lose_units();
            if !self.misplaced(sort) {
                self.skip_until(|parser| {
                    parser.at_any(&[Keyword::Begin, Keyword::End]) || parser.at_any(DECLARATIONS)
                });
            }
        }
    }

    /// Whether a section follows that this unit, whose END seems to be missing, cannot have (any more).
    fn belongs_to_outer_unit(&self, sort: Sort, body: &Body) -> bool {
        let impossible = body.begin.is_some() && self.at(Keyword::Begin)
            || sort == Sort::Procedure && self.at_any(&[Keyword::Activity, Keyword::Finally]);
        impossible && self.units.last().is_some_and(|unit| unit.suspect)
    }

    /// Reports what stands where a section or END should; whether reading can go on right there.
    fn misplaced(&mut self, sort: Sort) -> bool {
        if self.at_any(DECLARATIONS) {
            let expected = self.end_of_innermost();
            let _: Parsed<()> = self.unexpected_with_help(&expected, "declarations stand before `BEGIN`");
            if let Some(unit) = self.units.last_mut() {
                unit.suspect = true;
            }
            return true;
        }
        let (sections, help) = match sort {
            Sort::Component => (
                "a declaration, `BEGIN`, `ACTIVITY`, `FINALLY` or `END`",
                "a component has declarations, then BEGIN, ACTIVITY and FINALLY, in this order",
            ),
            Sort::Procedure => {
                ("a declaration, `BEGIN` or `END`", "only components have ACTIVITY and FINALLY")
            }
        };
        let _: Parsed<()> = if self.at_any(&[Keyword::Activity, Keyword::Finally]) {
            self.unexpected_with_help(sections, help)
        } else {
            self.unexpected(sections)
        };
        false
    }

    fn section(&mut self, keyword: Keyword, block: &mut Option<Block>) {
        if !self.at(keyword) {
            return;
        }
        if block.is_some() {
            let message = format!("there is a second `{}` here", keyword.text());
            self.report(Diagnostic::new("unexpected-token", self.token().span, message));
            self.lose_units();
        }
        self.advance();
        let read = self.outer_block();
        block.get_or_insert(read);
    }

    fn end_of_innermost(&self) -> String {
        self.units.last().map_or("`END`".to_string(), |unit| format!("`END {}`", unit.name.text))
    }

    /// What is read from now on, up to `end_of_unit`, belongs to the unit of this name.
    pub(super) fn open_unit(&mut self, name: &Name) {
        let declared_before = self.declared.len();
        self.units.push(Unit { name: name.clone(), suspect: false, lost: false, declared_before });
    }

    /// The innermost open unit cannot be read wholly.
    pub(super) fn lose_unit(&mut self) {
        if let Some(unit) = self.units.last_mut() {
            unit.lost = true;
        }
    }

    /// It is not certain any more which open unit it is that goes on here.
    pub(super) fn lose_units(&mut self) {
        for unit in &mut self.units {
            unit.lost = true;
        }
    }

    /// `END Name;` of the innermost open unit, which is closed whatever is found. If the unit is lost: what is
    /// left of it.
    pub(super) fn end_of_unit(&mut self) -> Option<Declaration> {
        let expected = self.end_of_innermost();
        let mut unit = self.units.pop()?;
        if let Err(Failed) = self.close(&unit, &expected) {
            self.lose_units();
            unit.lost = true;
        }
        unit.lost.then(|| Declaration::Lost(self.declared[unit.declared_before..].to_vec()))
    }

    /// `END Name;` of this unit, which was the innermost one.
    fn close(&mut self, unit: &Unit, expected: &str) -> Parsed<()> {
        if !self.at(Keyword::End) {
            let message = format!("expected {expected}, found {}", self.found());
            let diagnostic = Diagnostic::new("unexpected-token", self.token().span, message);
            if !unit.suspect {
                self.report(diagnostic.note(unit.name.span, format!("`{}` begins here", unit.name.text)));
            }
            return Err(Failed);
        }
        if self.closes_an_outer_unit(unit) {
            // `unit` lacks its END; this one is left to the unit that it names.
            if !unit.suspect {
                self.report_mismatch(unit);
            }
            return Err(Failed);
        }
        self.advance();
        let named = self.name_after_end(unit);
        if !self.accept(Symbol::Semicolon) {
            let _: Parsed<()> = self.missing_semicolon(expected);
            self.accept(Symbol::Period);
        }
        named
    }

    fn name_after_end(&mut self, unit: &Unit) -> Parsed<()> {
        if !self.at(TokenKind::Name) {
            return self.unexpected_with_help(
                &format!("`{}` after `END`", unit.name.text),
                "the END of a component, interface, implementation or procedure repeats its name",
            );
        }
        let fits = self.name_ahead(0) == unit.name.text;
        if !fits {
            self.position -= 1;
            self.report_mismatch(unit);
            self.position += 1;
        }
        self.qualified("a name")?;
        if fits { Ok(()) } else { Err(Failed) }
    }

    fn closes_an_outer_unit(&self, innermost: &Unit) -> bool {
        let next = self.token_after(1);
        let name = self.name_ahead(1);
        let names_outer = || self.units.iter().any(|unit| unit.name.text == name);
        next.kind == TokenKind::Name && name != innermost.name.text && (innermost.suspect || names_outer())
    }

    /// At an END with a wrong name.
    fn report_mismatch(&mut self, unit: &Unit) {
        let name = self.token_after(1);
        let found = self.name_ahead(1);
        let message = format!("expected `END {}`, found `END {found}`", unit.name.text);
        let diagnostic = Diagnostic::new("end-name-mismatch", name.span, message);
        self.report(diagnostic.note(unit.name.span, format!("`{}` begins here", unit.name.text)));
    }

    /// The block of a component, procedure or implementation.
    fn outer_block(&mut self) -> Block {
        self.block(&[Keyword::Activity, Keyword::Finally], Closing::Unit)
    }

    /// A block within a statement; ends before END or one of the `clauses`.
    pub(super) fn inner_block(&mut self, clauses: &[Keyword]) -> Parsed<Block> {
        self.nested(|parser| Ok(parser.block(clauses, Closing::Statement)))
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
            let before = self.position;
            match self.statement() {
                Ok(statement) => {
                    // What is followed by anything else on its line was probably meant to be another statement.
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
            if self.at_end() || self.at_any(clauses) || self.at_any(DECLARATIONS) {
                return true;
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

    /// The `;` after a statement, or the end of the block; whether the statement ends there, or could, a line
    /// ending there.
    fn end_of_statement(&mut self, clauses: &[Keyword]) -> bool {
        let ends = self.at_any(clauses) || self.at(Keyword::End);
        let lacks_end = self.at_any(DECLARATIONS) || self.at_end(); // reported by whose END it is
        if self.accept(Symbol::Semicolon) || ends || lacks_end {
            return true;
        }
        let closers = match clauses.first() {
            Some(Keyword::Until) => "`UNTIL`",
            Some(Keyword::Elsif) => "`ELSIF`, `ELSE` or `END`",
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
            return Ok(());
        }
        let word = &self.text[opening.start as usize..opening.end as usize];
        let found = if closes_unit { format!("`END {}`", self.text_of(next)) } else { self.found() };
        let message = format!("expected `END` of this `{word}`, found {found}");
        let diagnostic = Diagnostic::new("unexpected-token", self.token().span, message);
        self.report(diagnostic.note(opening, format!("this `{word}` is not closed")));
        self.lost_statements += 1;
        if !closes_unit {
            self.lose_units();
        }
        Ok(())
    }
}

/// Whose END closes a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Closing {
    Unit,
    Statement,
}
