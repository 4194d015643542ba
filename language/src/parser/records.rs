//! Records.

use super::state::{Parsed, Parser};
use crate::ast::{Declaration, Record, Section};
use crate::lexer::{Keyword, Symbol, TokenKind};

/// Help for a field of another shape.
const FIELD: &str = "a field has a name and a type: RECORD Point; x, y: INTEGER END Point;";

impl Parser<'_> {
    /// Whether a record begins here. RECORD isn't reserved, but no other declaration and no statement begins with
    /// it, another name and a `;`.
    pub(super) fn at_record(&self) -> bool {
        let kinds = [0, 1, 2].map(|ahead| self.kind_after(ahead));
        let is_heading = kinds == [TokenKind::Name, TokenKind::Name, Symbol::Semicolon.into()];
        is_heading && self.text_of(self.token()) == "RECORD"
    }

    /// `RECORD Name; Names: Type {; Names: Type} END Name;`
    pub(super) fn record(&mut self) -> Parsed<Declaration> {
        let first = self.advance().span;
        let name = self.name("the name of the record")?;
        self.open_unit(&name);
        if let Some(unit) = self.units.last_mut() {
            unit.is_foreign = false; // although RECORD, which stands before the name, is no reserved word
        }
        self.declared.push(name.clone());
        self.semicolon_after_heading("RECORD");
        let fields = self.fields().unwrap_or_else(|_| {
            self.lose_unit();
            self.skip_until(|parser| parser.at(Keyword::End) || parser.at_declaration());
            Vec::new()
        });
        let lost = self.end_of_unit();
        let read = Record { name, fields, span: self.since(first) };
        Ok(lost.unwrap_or(Declaration::Record(read)))
    }

    /// The fields, up to END. Each section but the last one has its `;`.
    fn fields(&mut self) -> Parsed<Vec<Section>> {
        let mut fields = Vec::new();
        while self.at(TokenKind::Name) {
            let names = self.section_names("the name of a field", FIELD)?;
            let ty = self.ty()?;
            if self.at_value() {
                let help = "a field has no value of its own: a record is made by Point(x: 1, y: 2)";
                return self.unexpected_with_help("`;` or `END`", help);
            }
            fields.push(Section { names, ty });
            if !self.accept(Symbol::Semicolon) {
                break;
            }
        }
        if !self.at(Keyword::End) {
            return self.unexpected_with_help("`;` or `END` in this record", FIELD);
        }
        Ok(fields)
    }
}
