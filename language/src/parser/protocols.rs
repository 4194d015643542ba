//! Interfaces and their protocols.

use super::parameters::PARAMETER;
use super::state::{Attributes, Parsed, Parser};
use crate::ast::{Declaration, Direction, Interface, Message, Protocol};
use crate::lexer::{Keyword, Symbol, TokenKind};

const DIRECTION: &str = "a message begins with `IN` (client to server) or `OUT` (server to client)";

const NO_RESULT: &str = "a message has no result, another brings it: IN Get OUT Value(x: INTEGER)";

impl Parser<'_> {
    /// `INTERFACE [Attributes] Name; [Protocol] END Name;`
    pub(super) fn interface(&mut self) -> Parsed<Declaration> {
        let first = self.advance().span;
        let Attributes { names: attributes, native, capacity } = self.attributes_of_unit()?;
        let name = self.name("the name of the interface")?;
        self.open_unit(&name);
        self.declared.push(name.clone());
        self.semicolon_after_heading("INTERFACE");
        let protocol = if self.at_phrase() { self.protocol().map(Some) } else { Ok(None) };
        let protocol = match protocol {
            Ok(protocol) if self.at(Keyword::End) => protocol,
            result => {
                if result.is_ok() {
                    self.not_in_a_protocol();
                }
                self.lose_unit();
                self.skip_until(|parser| {
                    parser.at_any(&[Keyword::End, Keyword::Component, Keyword::Interface])
                });
                None
            }
        };
        let lost = self.end_of_unit();
        let read = Interface { attributes, capacity, native, name, protocol, span: self.since(first) };
        Ok(lost.unwrap_or(Declaration::Interface(read)))
    }

    /// Reports what stands behind a whole protocol; signs of other notations are known.
    fn not_in_a_protocol(&mut self) {
        let help = match self.kind() {
            TokenKind::Name | TokenKind::Keyword(Keyword::Procedure) => DIRECTION,
            TokenKind::Symbol(Symbol::Times | Symbol::Plus) => {
                "what may be repeated stands in braces: { IN A OUT B }"
            }
            TokenKind::Symbol(Symbol::Receive) => "what may be left out stands in brackets: [ IN A ]",
            TokenKind::Symbol(Symbol::Comma | Symbol::Semicolon) => {
                "messages follow one another with nothing between them; `|` stands between alternatives"
            }
            _ => "",
        };
        let expected = "`IN`, `OUT`, a parenthesis or `END` in this protocol";
        let _: Parsed<()> = match help {
            "" => self.unexpected(expected),
            help => self.unexpected_with_help(expected, help),
        };
    }

    fn protocol(&mut self) -> Parsed<Protocol> {
        self.nested(|parser| {
            let mut choices = vec![parser.sequence()?];
            while parser.accept(Symbol::Bar) {
                choices.push(parser.sequence()?);
            }
            Ok(one_or(choices, Protocol::Choice))
        })
    }

    fn sequence(&mut self) -> Parsed<Protocol> {
        let mut phrases = vec![self.phrase()?];
        while self.at_phrase() {
            phrases.push(self.phrase()?);
        }
        Ok(one_or(phrases, Protocol::Sequence))
    }

    fn at_phrase(&self) -> bool {
        matches!(
            self.kind(),
            TokenKind::Keyword(Keyword::In | Keyword::Out)
                | TokenKind::Symbol(Symbol::LeftParenthesis | Symbol::LeftBracket | Symbol::LeftBrace)
        )
    }

    fn phrase(&mut self) -> Parsed<Protocol> {
        match self.kind() {
            TokenKind::Keyword(Keyword::In) => self.message(Direction::In),
            TokenKind::Keyword(Keyword::Out) => self.message(Direction::Out),
            TokenKind::Symbol(Symbol::LeftParenthesis) => {
                self.enclosed(Symbol::RightParenthesis, Protocol::Group)
            }
            TokenKind::Symbol(Symbol::LeftBracket) => self.enclosed(Symbol::RightBracket, Protocol::Optional),
            TokenKind::Symbol(Symbol::LeftBrace) => self.enclosed(Symbol::RightBrace, Protocol::Repeated),
            TokenKind::Name => self.unexpected_with_help("`IN`, `OUT` or a parenthesis", DIRECTION),
            _ => self.unexpected("`IN`, `OUT` or a parenthesis"),
        }
    }

    fn enclosed(
        &mut self,
        closing: Symbol,
        make: fn(Box<Protocol>, crate::source::Span) -> Protocol,
    ) -> Parsed<Protocol> {
        let first = self.advance().span;
        let inner = self.protocol()?;
        self.expect(closing)?;
        Ok(make(Box::new(inner), self.since(first)))
    }

    fn message(&mut self, direction: Direction) -> Parsed<Protocol> {
        let first = self.advance().span;
        let name = self.name("the name of a message")?;
        let mut parameters = Vec::new();
        if self.at(Symbol::LeftParenthesis) && self.kind_after(1) == TokenKind::Name {
            self.advance();
            parameters = self.sections("the name of a parameter", PARAMETER)?;
            self.expect(Symbol::RightParenthesis)?;
        }
        let is_empty =
            self.at(Symbol::LeftParenthesis) && self.kind_after(1) == Symbol::RightParenthesis.into();
        let behind = if is_empty { self.kind_after(2) } else { self.kind() };
        if [Symbol::Colon, Symbol::Minus].map(TokenKind::from).contains(&behind) {
            let is_parameter = self.kind_before(3) == Symbol::LeftParenthesis.into();
            let help = if is_parameter { PARAMETER } else { NO_RESULT };
            return self.unexpected_with_help("the end of this message", help);
        }
        if is_empty {
            let help = "a message without parameters has no parentheses";
            return self.unexpected_with_help("the end of this message", help);
        }
        Ok(Protocol::Message(Message { direction, name, parameters, span: self.since(first) }))
    }
}

/// The only one, or what `make` makes of several.
fn one_or(mut several: Vec<Protocol>, make: fn(Vec<Protocol>) -> Protocol) -> Protocol {
    match (several.len(), several.pop()) {
        (1, Some(only)) => only,
        (_, Some(last)) => {
            several.push(last);
            make(several)
        }
        (_, None) => make(several),
    }
}
