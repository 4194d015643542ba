//! Components, implementations, procedures, constants, variables and types.

use super::parameters::INDEX;
use super::state::{Attributes, Failed, Parsed, Parser};
use crate::ast::{
    Cardinality, Component, Constant, Declaration, Facet, File, Implementation, Name, Procedure, Type,
    Variables,
};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::source::Diagnostic;

/// What a declaration begins with.
pub(super) const DECLARATIONS: &[Keyword] = &[
    Keyword::Component,
    Keyword::Interface,
    Keyword::Implementation,
    Keyword::Procedure,
    Keyword::Constant,
    Keyword::Variable,
];

/// What stands at the top level of a file.
const TOP_LEVEL: &[Keyword] =
    &[Keyword::Component, Keyword::Interface, Keyword::Procedure, Keyword::Constant];

const EXPECTED_ITEM: &str = "`COMPONENT`, `INTERFACE`, `PROCEDURE` or `CONSTANT` at the top level";

/// What a body belongs to: only components have ACTIVITY and implementations, only they and implementations FINALLY.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Component,
    Implementation,
    Procedure,
}

impl Parser<'_> {
    pub(super) fn file(&mut self) -> File {
        let imports = self.imports();
        let mut items = Vec::new();
        while !self.at_end() {
            if let Err(Failed) = self.item(&mut items) {
                self.lost = true;
                self.units.clear();
                self.skip_until(|parser| parser.at_any(&[Keyword::Component, Keyword::Interface]));
            }
        }
        File { imports, items, lost: self.lost }
    }

    /// `IMPORT Name {, Name};`, if it is there.
    pub(super) fn imports(&mut self) -> Vec<Name> {
        if !self.accept(Keyword::Import) {
            return Vec::new();
        }
        let names = self.list(|parser| parser.name("the name of a file, without `.dry`"));
        let names = names.and_then(|names| match self.accept(Symbol::Semicolon) {
            true => Ok(names),
            false => self.missing_semicolon("this IMPORT").map(|()| names),
        });
        names.unwrap_or_else(|Failed| {
            self.lost = true;
            self.skip_until(|parser| parser.at(Symbol::Semicolon) || parser.at_any(TOP_LEVEL));
            self.accept(Symbol::Semicolon);
            Vec::new()
        })
    }

    fn item(&mut self, items: &mut Vec<Declaration>) -> Parsed<()> {
        match self.keyword() {
            Some(Keyword::Component) => items.push(self.component()?),
            Some(Keyword::Interface) => items.push(self.interface()?),
            Some(Keyword::Procedure) => items.push(self.procedure()?),
            Some(Keyword::Constant) => self.constants(items)?,
            Some(Keyword::Import) => {
                return self
                    .unexpected_with_help(EXPECTED_ITEM, "IMPORT stands once, at the beginning of a file");
            }
            Some(Keyword::Variable) => {
                return self
                    .unexpected_with_help(EXPECTED_ITEM, "variables belong to a component or a procedure");
            }
            Some(Keyword::Begin) => {
                let help = "statements stand in a component: COMPONENT Main; BEGIN .. END Main;";
                return self.unexpected_with_help(EXPECTED_ITEM, help);
            }
            _ if self.at_record() => items.push(self.record()?),
            // A file that begins with a reserved word in small letters goes on so: one error says it.
            _ if self.at_foreign_declaration() && !self.at_small_keyword() => self.foreign_item(items)?,
            _ => return self.unexpected(EXPECTED_ITEM),
        }
        Ok(())
    }

    fn foreign_item(&mut self, items: &mut Vec<Declaration>) -> Parsed<()> {
        self.skip_modifiers();
        let _: Parsed<()> = self.unexpected(EXPECTED_ITEM);
        let mut read = Vec::new();
        let whole = self.foreign_declaration(Sort::Component, &mut read);
        let read_before = read.len();
        read.retain(|item| !matches!(item, Declaration::Variables(_) | Declaration::Implementation(_)));
        let lost = read.len() < read_before || read.iter().any(|item| matches!(item, Declaration::Lost(_)));
        self.lost |= lost;
        items.append(&mut read);
        whole
    }

    /// The declarations before a body. Of those that cannot be read, only the names are kept.
    pub(super) fn declarations(&mut self, sort: Sort) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        loop {
            let read = match self.keyword().filter(|keyword| DECLARATIONS.contains(keyword)) {
                Some(keyword) => self.declaration(keyword, sort, &mut declarations),
                None if self.at_record() => self.record().map(|record| declarations.push(record)),
                None if self.at_foreign_declaration() => self.foreign_declaration(sort, &mut declarations),
                None => return declarations,
            };
            if let Err(Failed) = read {
                self.lose_units();
                self.skip_until(|parser| {
                    parser.at_declaration() || parser.at_any(&[Keyword::Begin, Keyword::End])
                });
            }
        }
    }

    /// Reads a declaration that begins with this keyword, or with another language's word for it.
    pub(super) fn declaration(
        &mut self,
        keyword: Keyword,
        sort: Sort,
        declarations: &mut Vec<Declaration>,
    ) -> Parsed<()> {
        match keyword {
            Keyword::Constant => self.constants(declarations),
            Keyword::Variable => self.variables(declarations),
            _ => self.nested(|parser| parser.unit(keyword, sort)).map(|unit| declarations.push(unit)),
        }
    }

    fn unit(&mut self, keyword: Keyword, sort: Sort) -> Parsed<Declaration> {
        match keyword {
            Keyword::Component => self.component(),
            Keyword::Interface => self.interface(),
            Keyword::Procedure => self.procedure(),
            _ => {
                if sort != Sort::Component {
                    let message = "an `IMPLEMENTATION` stands directly in a component";
                    self.report(Diagnostic::new("unexpected-token", self.token().span, message));
                    self.lose_units();
                }
                self.implementation()
            }
        }
    }

    fn component(&mut self) -> Parsed<Declaration> {
        let first = self.advance().span;
        let Attributes { names: attributes, native, capacity } = self.attributes_of_unit()?;
        if let Some((_, span)) = capacity {
            let error = Diagnostic::new("unknown-attribute", span, "a component has no CAPACITY");
            self.report(error.help("it belongs to an interface: INTERFACE {CAPACITY 64} Items;"));
        }
        let name = self.name("the name of the component")?;
        self.open_unit(&name);
        self.declared.push(name.clone());
        let facets = self.offers_and_requires();
        if facets.is_err() {
            self.skip_heading();
        }
        self.semicolon_after_heading("COMPONENT");
        let body = self.body(Sort::Component);
        let lost = self.end_of_unit();
        let (offers, requires) = facets.unwrap_or_default();
        Ok(lost.unwrap_or(Declaration::Component(Component {
            attributes,
            native,
            name,
            offers,
            requires,
            declarations: body.declarations,
            begin: body.begin,
            activity: body.activity,
            finally: body.finally,
            span: self.since(first),
        })))
    }

    fn offers_and_requires(&mut self) -> Parsed<(Vec<Facet>, Vec<Facet>)> {
        let offers = if self.accept(Keyword::Offers) { self.facets()? } else { Vec::new() };
        let requires = if self.accept(Keyword::Requires) { self.facets()? } else { Vec::new() };
        if self.at(Keyword::Offers) {
            return self.unexpected_with_help("`;` after this heading", "OFFERS stands before REQUIRES");
        }
        Ok((offers, requires))
    }

    fn implementation(&mut self) -> Parsed<Declaration> {
        let first = self.advance().span;
        let attributes = self.attributes()?;
        let name = self.qualified("the name of the implemented interface")?;
        self.open_unit(&name);
        self.semicolon_after_heading("IMPLEMENTATION");
        let body = self.body(Sort::Implementation);
        let lost = self.end_of_unit();
        let span = self.since(first);
        let (declarations, finally, body) = (body.declarations, body.finally, body.begin);
        let read = Implementation { attributes, name, declarations, body, finally, span };
        Ok(lost.unwrap_or(Declaration::Implementation(read)))
    }

    fn procedure(&mut self) -> Parsed<Declaration> {
        let first = self.advance().span;
        let attributes = self.attributes()?;
        self.receiver();
        let name = self.name("the name of the procedure")?;
        self.open_unit(&name);
        self.declared.push(name.clone());
        let heading = self.formals_and_result();
        if heading.is_err() {
            self.skip_heading();
        }
        self.semicolon_after_heading("PROCEDURE");
        if self.is_announced_only() {
            self.units.pop();
            return Ok(Declaration::Lost(vec![name]));
        }
        let (formals, result) = heading.unwrap_or_default();
        let span = self.since(first);
        let mut read =
            Procedure { attributes, name, formals, result, declarations: Vec::new(), body: None, span };
        // A BEGIN behind it is that of the unit around it, if there is one.
        if read.is_native() && (self.units.len() > 1 || !self.at(Keyword::Begin)) {
            self.units.pop();
            return Ok(Declaration::Procedure(read));
        }
        let body = self.body(Sort::Procedure);
        let lost = self.end_of_unit();
        (read.declarations, read.body, read.span) = (body.declarations, body.begin, self.since(first));
        Ok(lost.unwrap_or(Declaration::Procedure(read)))
    }

    fn constants(&mut self, declarations: &mut Vec<Declaration>) -> Parsed<()> {
        self.advance();
        self.entries(declarations, |parser, declarations| {
            let name = parser.name("the name of a constant")?;
            if parser.at(Symbol::Colon) {
                return parser.unexpected_with_help("`=`", "a constant has the type of its value");
            }
            parser.expect(Symbol::Equal)?;
            let value = parser.expression()?;
            declarations.push(Declaration::Constant(Constant { name, value }));
            Ok(())
        });
        Ok(())
    }

    fn variables(&mut self, declarations: &mut Vec<Declaration>) -> Parsed<()> {
        self.advance();
        self.entries(declarations, |parser, declarations| {
            let variables = parser.list(|parser| {
                let name = parser.name("the name of a variable")?;
                if !parser.accept(Symbol::LeftBracket) {
                    return Ok((name, None));
                }
                let indices = parser.sections("the name of an index", INDEX)?;
                parser.expect(Symbol::RightBracket)?;
                Ok((name, Some(indices)))
            })?;
            if parser.at_value() {
                let help = "a variable has a type and begins with 0, FALSE or \"\": VARIABLE x: INTEGER; \
                            x := 1 stands behind BEGIN";
                return parser.unexpected_with_help("`:`", help);
            }
            parser.expect(Symbol::Colon)?;
            let ty = parser.ty()?;
            if parser.at_value() {
                let help = "a variable gets its value by a statement, behind BEGIN: x := 1";
                return parser.unexpected_with_help("`;` after this declaration", help);
            }
            if parser.at(Symbol::LeftBracket) {
                let (name, _) = &variables[0];
                let help = format!("indices stand beside the name: {}[i: INTEGER]: INTEGER", name.text);
                return parser.unexpected_with_help("`;` after this declaration", &help);
            }
            let attributes = parser.attributes()?;
            declarations.push(Declaration::Variables(Variables { variables, ty, attributes }));
            Ok(())
        });
        Ok(())
    }

    pub(super) fn at_value(&self) -> bool {
        self.at(Symbol::Equal) || self.at(Symbol::Assign)
    }

    /// Reads the entries of a CONSTANT or VARIABLE section, each with its `;`. Recovers from an error at the `;`.
    fn entries(
        &mut self,
        declarations: &mut Vec<Declaration>,
        mut entry: impl FnMut(&mut Self, &mut Vec<Declaration>) -> Parsed<()>,
    ) {
        while self.at(TokenKind::Name) && !self.at_foreign_declaration() {
            let (first, declared_before) = (self.position, declarations.len());
            let read = entry(self, declarations).and_then(|()| {
                if self.at(Symbol::Semicolon) || self.comma_between_entries() {
                    return Ok(());
                }
                self.missing_semicolon("this declaration")
            });
            if read.is_err() && !self.next_entry_follows() {
                self.skip_until(|parser| {
                    parser.at(Symbol::Semicolon)
                        || parser.at_declaration()
                        || parser.at_any(&[Keyword::Begin, Keyword::Activity, Keyword::Finally, Keyword::End])
                });
                if !self.at(Symbol::Semicolon) {
                    self.lose_units();
                }
                declarations.truncate(declared_before);
                declarations.push(Declaration::Lost(self.names_since(first)));
            }
            if !self.accept(Symbol::Semicolon) && read.is_ok() {
                self.accept(Symbol::Comma);
            }
        }
    }

    /// Reports a `,` before another entry, which is taken for `;`.
    fn comma_between_entries(&mut self) -> bool {
        let goes_on = [Symbol::Equal, Symbol::Colon].map(TokenKind::from).contains(&self.kind_after(2));
        let is_one = self.at(Symbol::Comma) && goes_on;
        if is_one {
            let help = "`;` separates declarations: a: INTEGER; b: TEXT";
            let _: Parsed<()> = self.unexpected_with_help("`;` after this declaration", help);
        }
        is_one
    }

    /// All names from this token on.
    pub(super) fn names_since(&self, first: usize) -> Vec<Name> {
        let tokens = self.tokens[first..self.position].iter().filter(|token| token.kind == TokenKind::Name);
        tokens.map(|&token| Name { text: self.text_of(token).to_string(), span: token.span }).collect()
    }

    /// Whether only a `;` was forgotten, and the next line goes on with an entry.
    fn next_entry_follows(&self) -> bool {
        let begins = matches!(
            self.kind_after(1),
            TokenKind::Symbol(Symbol::Equal | Symbol::Colon | Symbol::Comma | Symbol::LeftBracket)
        );
        self.at(TokenKind::Name) && begins && self.on_a_new_line()
    }

    pub(super) fn facets(&mut self) -> Parsed<Vec<Facet>> {
        self.list(Parser::facet)
    }

    fn facet(&mut self) -> Parsed<Facet> {
        if self.at(Keyword::Requires) {
            let help = "nothing stands between OFFERS A, B and REQUIRES C";
            return self.unexpected_with_help("the name of an interface", help);
        }
        let name = self.qualified("the name of an interface")?;
        let first = name.span;
        let mut cardinality = None;
        if self.accept(Symbol::LeftBracket) {
            let from = self.bound("a number in this cardinality")?;
            let to = match self.accept(Symbol::Range) {
                false => Some(from),
                true if self.accept(Symbol::Times) => None,
                true => Some(self.bound("a number in this cardinality")?),
            };
            self.expect(Symbol::RightBracket)?;
            cardinality = Some(Cardinality { from, to });
        }
        Ok(Facet { name, cardinality, span: self.since(first) })
    }

    pub(super) fn bound(&mut self, expected: &str) -> Parsed<i64> {
        match self.kind() {
            TokenKind::Integer(value) => {
                let place = self.advance().span;
                self.integer(value, place).ok_or(Failed)
            }
            TokenKind::Bits(value) => {
                let place = self.advance().span;
                self.integer(value as u64, place).ok_or(Failed)
            }
            _ => self.unexpected(expected),
        }
    }

    pub(super) fn ty(&mut self) -> Parsed<Type> {
        if let Some(help) = self.foreign_type() {
            return self.unexpected_with_help("a type", help);
        }
        if self.at_sequence_type() {
            let first = self.advance().span;
            self.advance();
            let element = self.nested(Parser::ty)?;
            return Ok(Type::Sequence(Box::new(element), self.since(first)));
        }
        if !self.at(Keyword::Any) {
            return Ok(Type::Named(self.qualified("a type")?));
        }
        let first = self.advance().span;
        let mut facets = None;
        if self.accept(Symbol::LeftParenthesis) {
            let offers = self.some_facets()?;
            let requires = if self.accept(Symbol::Bar) { self.some_facets()? } else { Vec::new() };
            self.expect(Symbol::RightParenthesis)?;
            facets = Some((offers, requires));
        }
        Ok(Type::Any { facets, span: self.since(first) })
    }

    /// Whether `SEQUENCE OF` comes. SEQUENCE isn't reserved, but OF follows no other type.
    fn at_sequence_type(&self) -> bool {
        self.at(TokenKind::Name)
            && self.kind_after(1) == Keyword::Of.into()
            && self.text_of(self.token()) == "SEQUENCE"
    }

    fn some_facets(&mut self) -> Parsed<Vec<Facet>> {
        if self.at(TokenKind::Name) { self.facets() } else { Ok(Vec::new()) }
    }

    /// After an error in a heading: to its `;`, or to where the body begins.
    fn skip_heading(&mut self) {
        self.lose_unit();
        self.skip_until(|parser| {
            parser.at(Symbol::Semicolon)
                || parser.at_declaration()
                || parser.at_any(&[Keyword::Begin, Keyword::End])
        });
    }
}
