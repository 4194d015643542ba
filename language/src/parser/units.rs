//! Units: components, implementations and procedures. Reads what stands between the heading and END, and finds the unit
//! that an END closes.

use super::declarations::{DECLARATIONS, Sort};
use super::state::{Failed, Parsed, Parser, Unit};
use crate::ast::{Block, Declaration, Name};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::source::Diagnostic;

/// All between heading and END.
#[derive(Default)]
pub(super) struct Body {
    pub declarations: Vec<Declaration>,
    pub begin: Option<Block>,
    pub activity: Option<Block>,
    pub finally: Option<Block>,
}

impl Parser<'_> {
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
            }
            if sort != Sort::Procedure {
                self.section(Keyword::Finally, &mut body.finally);
            }
            if self.at(Keyword::End) || self.at_end() {
                return body;
            }
            self.lose_units();
            if !self.misplaced(sort) {
                self.skip_until(|parser| {
                    parser.at_any(&[Keyword::Begin, Keyword::End]) || parser.at_declaration()
                });
            }
        }
    }

    /// Whether a section follows that this unit can't have (any more). It belongs to an outer unit, since the END of
    /// this one seems to be missing.
    fn belongs_to_outer_unit(&self, sort: Sort, body: &Body) -> bool {
        let impossible = body.begin.is_some() && self.at(Keyword::Begin)
            || sort != Sort::Component && self.at(Keyword::Activity)
            || sort == Sort::Procedure && self.at(Keyword::Finally);
        impossible && self.units.last().is_some_and(|unit| unit.suspect)
    }

    /// Reports a token where a section or END should stand. Gives whether reading can go on right there.
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
            Sort::Implementation => {
                ("a declaration, `BEGIN`, `FINALLY` or `END`", "only components have ACTIVITY")
            }
            Sort::Procedure => (
                "a declaration, `BEGIN` or `END`",
                "only components have ACTIVITY, and only they and implementations FINALLY",
            ),
        };
        let _: Parsed<()> = if self.at_any(&[Keyword::Activity, Keyword::Finally]) {
            self.unexpected_with_help(sections, help)
        } else if self.at_any(&[Keyword::Offers, Keyword::Requires]) {
            let help = "OFFERS and REQUIRES belong to the heading: its `;` stands behind them";
            self.unexpected_with_help(sections, help)
        } else if self.at(Keyword::Import) {
            self.unexpected_with_help(sections, "IMPORT stands once, at the beginning of a file")
        } else {
            let is_declared = self.kind_after(1) == Symbol::Colon.into();
            let place =
                if is_declared { "variables stand behind VARIABLE" } else { "statements stand behind BEGIN" };
            let help = self.habit().unwrap_or(place.into());
            self.unexpected_with_help(sections, &help)
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

    pub(super) fn end_of_innermost(&self) -> String {
        self.units.last().map_or("`END`".to_string(), |unit| format!("`END {}`", unit.name.text))
    }

    /// Opens a unit, to which everything up to `end_of_unit` belongs.
    pub(super) fn open_unit(&mut self, name: &Name) {
        let declared_before = self.declared.len();
        let before = self.position.checked_sub(2).map(|at| self.tokens[at].kind);
        self.units.push(Unit {
            name: name.clone(),
            suspect: false,
            lost: false,
            declared_before,
            open_structures: 0,
            is_foreign: before == Some(TokenKind::Name),
        });
    }

    /// Notes that the innermost open unit could not be read as a whole.
    pub(super) fn lose_unit(&mut self) {
        if let Some(unit) = self.units.last_mut() {
            unit.lost = true;
        }
    }

    /// Notes that it is not certain any more to which of the open units the text here belongs.
    pub(super) fn lose_units(&mut self) {
        for unit in &mut self.units {
            unit.lost = true;
        }
    }

    /// Reads `END Name;` of the innermost open unit, and closes the unit in any case. If the unit is lost, gives what
    /// is left of it.
    pub(super) fn end_of_unit(&mut self) -> Option<Declaration> {
        let expected = self.end_of_innermost();
        let mut unit = self.units.pop()?;
        if let Err(Failed) = self.close(&unit, &expected) {
            self.lose_units();
            unit.lost = true;
        }
        unit.lost.then(|| Declaration::Lost(self.declared[unit.declared_before..].to_vec()))
    }

    /// Reads `END Name;` of this unit, which was the innermost one.
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
        if unit.is_foreign && (self.at(Symbol::Period) || self.on_a_new_line()) {
            self.accept(Symbol::Period);
            return named;
        }
        if !self.accept(Symbol::Semicolon) {
            let _: Parsed<()> = self.missing_semicolon(expected);
            self.accept(Symbol::Period);
        }
        named
    }

    fn name_after_end(&mut self, unit: &Unit) -> Parsed<()> {
        if !self.at(TokenKind::Name) {
            let expected = format!("`{}` after `END`", unit.name.text);
            let help = "the END of a component, interface, implementation or procedure repeats its name";
            let result = self.unexpected_with_help(&expected, help);
            if self.at_any(DECLARATIONS) && self.kind_after(1) == Symbol::Semicolon.into() {
                self.advance();
            }
            return result;
        }
        if unit.is_foreign && self.is_declaring_word(self.position) {
            self.advance();
            return Ok(());
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
}
