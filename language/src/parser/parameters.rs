//! Parameters of procedures and messages, and the indices of variables.

use super::state::{Parsed, Parser};
use crate::ast::{Formal, Name, Section, Type};
use crate::lexer::{Keyword, Symbol, TokenKind};

/// Help for a parameter of another shape.
pub(super) const PARAMETER: &str = "a parameter has a name and a type: x: INTEGER";

/// Help for an index of another shape.
pub(super) const INDEX: &str = "an index has a name and a type, and no bounds: a[i: INTEGER]: REAL";

impl Parser<'_> {
    /// `[(..)] [: Type]`
    pub(super) fn formals_and_result(&mut self) -> Parsed<(Vec<Formal>, Option<Type>)> {
        let mut formals = Vec::new();
        if self.accept(Symbol::LeftParenthesis) && !self.accept(Symbol::RightParenthesis) {
            formals.push(self.formal()?);
            while self.another_section() {
                formals.push(self.formal()?);
            }
            self.expect(Symbol::RightParenthesis)?;
        }
        if self.at(TokenKind::Name) && !self.on_a_new_line() || self.at(Symbol::Minus) {
            let help = "a result stands behind a colon: PROCEDURE F(x: INTEGER): INTEGER";
            return self.unexpected_with_help("`:` or `;`", help);
        }
        let result = if self.accept(Symbol::Colon) { Some(self.ty()?) } else { None };
        Ok((formals, result))
    }

    fn formal(&mut self) -> Parsed<Formal> {
        let variable = self.accept(Keyword::Variable);
        let names = self.section_names("the name of a parameter", PARAMETER)?;
        let ty = self.ty()?;
        if self.at_value() {
            let help = "a parameter has no value of its own: every call gives one";
            return self.unexpected_with_help("`;` or `)`", help);
        }
        Ok(Formal { variable, names, ty })
    }

    /// `Names: Type {; Names: Type}`
    pub(super) fn sections(&mut self, what: &str, help: &str) -> Parsed<Vec<Section>> {
        let mut sections = Vec::new();
        loop {
            let names = self.section_names(what, help)?;
            sections.push(Section { names, ty: self.ty()? });
            if !self.another_section() {
                return Ok(sections);
            }
        }
    }

    /// `Names:`
    pub(super) fn section_names(&mut self, what: &str, help: &str) -> Parsed<Vec<Name>> {
        let names = self.list(|parser| match parser.at(TokenKind::Name) {
            true => parser.name(what),
            false => parser.unexpected_with_help(what, help),
        })?;
        if !self.accept(Symbol::Colon) {
            return self.unexpected_with_help("`:`", help);
        }
        Ok(names)
    }

    /// Reads the `;` before another section, and a `,` as one.
    pub(super) fn another_section(&mut self) -> bool {
        let goes_on = [Symbol::Colon, Symbol::Comma].map(TokenKind::from).contains(&self.kind_after(2));
        if self.at(Symbol::Comma) && (goes_on || self.kind_after(1) == Keyword::Variable.into()) {
            let help = "`;` separates parameters, and indices: a: INTEGER; b: TEXT";
            let _: Parsed<()> = self.unexpected_with_help("`;`", help);
            self.advance();
            return true;
        }
        self.accept(Symbol::Semicolon) || self.accept(Symbol::Comma)
    }
}
