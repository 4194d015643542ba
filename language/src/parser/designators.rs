//! Designators and calls. `Name(x)` may be either; the token behind the parenthesis decides. So it is read as a call,
//! and converted if it turns out to be a designator.

use super::state::{Failed, Parsed, Parser};
use crate::ast::{Call, Designator, Expression, ExpressionKind, Inner, Name, Step};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::source::Diagnostic;

/// `Name ..` as far as it can be read without knowing what follows.
pub(super) enum Reference {
    /// Certainly no call.
    Designator(Designator),
    /// `Name(arguments)`: a call, unless the context says otherwise.
    Call(Call),
}

impl Reference {
    /// As an expression: a call where it can be one.
    pub(super) fn into_expression(self) -> Expression {
        match self {
            Reference::Designator(designator) => {
                let span = designator.span;
                Expression { kind: ExpressionKind::Designator(designator), span }
            }
            Reference::Call(call) => {
                let span = call.span;
                Expression { kind: ExpressionKind::Call(call), span }
            }
        }
    }
}

impl Parser<'_> {
    /// `Name [indices] {.field | [index]} [(..)]`
    pub(super) fn reference(&mut self) -> Parsed<Reference> {
        let name = self.qualified("a name")?;
        let may_be_call = self.at(Symbol::LeftParenthesis) && self.kind_after(1) != Keyword::Any.into();
        if may_be_call {
            self.call_after(name).map(Reference::Call)
        } else {
            self.designator_after(name).map(Reference::Designator)
        }
    }

    /// A designator where nothing else may stand.
    pub(super) fn designator(&mut self) -> Parsed<Designator> {
        let name = self.qualified("a variable")?;
        self.designator_after(name)
    }

    fn designator_after(&mut self, name: Name) -> Parsed<Designator> {
        self.nested(|parser| {
            let first = name.span;
            let mut indices = None;
            if parser.accept(Symbol::LeftBracket) {
                indices = Some(parser.list(Parser::expression)?);
                parser.expect(Symbol::RightBracket)?;
            }
            let mut steps = Vec::new();
            while let Some(step) = parser.step()? {
                steps.push(step);
            }
            let mut inner = None;
            if parser.accept(Symbol::LeftParenthesis) {
                inner = Some(Box::new(parser.inner()?));
                parser.expect(Symbol::RightParenthesis)?;
            }
            Ok(Designator { name, indices, steps, inner, span: parser.since(first) })
        })
    }

    /// `.field` or `[index]`, if there is one.
    pub(super) fn step(&mut self) -> Parsed<Option<Step>> {
        let first = self.token().span;
        if self.at(Symbol::Period) && self.kind_after(1) == TokenKind::Name {
            self.advance();
            return self.name("a field").map(|field| Some(Step::Field(field)));
        }
        if !self.accept(Symbol::LeftBracket) {
            return Ok(None);
        }
        let index = self.expression()?;
        self.expect(Symbol::RightBracket)?;
        Ok(Some(Step::Index(index, self.since(first))))
    }

    fn inner(&mut self) -> Parsed<Inner> {
        if self.at(Keyword::Any) {
            self.ty().map(Inner::Type)
        } else {
            self.designator().map(Inner::Designator)
        }
    }

    /// A binding factory with its options; without any its name is enough.
    pub(super) fn factory(&mut self) -> Parsed<Call> {
        let name = self.qualified("a binding factory")?;
        if self.at(Symbol::LeftParenthesis) {
            return self.call_after(name);
        }
        Ok(Call { span: name.span, name, arguments: Vec::new() })
    }

    /// `([name:] value, ..)`
    fn call_after(&mut self, name: Name) -> Parsed<Call> {
        self.nested(|parser| {
            let first = name.span;
            parser.expect(Symbol::LeftParenthesis)?;
            let mut arguments = Vec::new();
            if !parser.at(Symbol::RightParenthesis) {
                arguments = parser.list(Parser::argument)?;
            }
            if !parser.at(Symbol::RightParenthesis) {
                return parser.unexpected("`,` or `)` in these arguments");
            }
            parser.advance();
            Ok(Call { name, arguments, span: parser.since(first) })
        })
    }

    /// Reads over VARIABLE before an argument.
    pub(super) fn word_before_argument(&mut self) {
        if self.at(Keyword::Variable) && !self.on_a_new_line() {
            let help = "an argument is the variable's name alone, which is declared before BEGIN";
            let _: Parsed<()> = self.unexpected_with_help("an argument", help);
            self.advance();
        }
    }

    fn argument(&mut self) -> Parsed<(Option<Name>, Expression)> {
        self.word_before_argument();
        let mut label = None;
        if self.at(TokenKind::Name) && self.kind_after(1) == Symbol::Colon.into() {
            label = Some(self.name("a name")?);
            self.advance();
        }
        Ok((label, self.expression()?))
    }

    /// Converts what has been read to a designator, where only that may stand.
    pub(super) fn as_designator(&mut self, reference: Reference) -> Parsed<Designator> {
        match reference {
            Reference::Designator(designator) => Ok(designator),
            Reference::Call(call) => self.call_as_designator(call),
        }
    }

    fn call_as_designator(&mut self, call: Call) -> Parsed<Designator> {
        let Call { name, mut arguments, span } = call;
        let inner = match (arguments.len(), arguments.pop()) {
            (1, Some((None, Expression { kind: ExpressionKind::Designator(designator), .. }))) => designator,
            (1, Some((None, Expression { kind: ExpressionKind::Call(call), .. }))) => {
                self.call_as_designator(call)?
            }
            _ => {
                let message = "expected a variable or an interface of a component, found a call";
                let help = "an interface of a component is written `Interface(component)`";
                self.report(Diagnostic::new("unexpected-token", span, message).help(help));
                return Err(Failed);
            }
        };
        let inner = Some(Box::new(Inner::Designator(inner)));
        Ok(Designator { name, indices: None, steps: Vec::new(), inner, span })
    }
}
