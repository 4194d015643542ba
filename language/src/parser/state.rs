//! The state of the parser: its position among the tokens, the open constructs, and the errors. Reads single tokens,
//! names and lists; the other files read the constructs of the grammar.

use std::cell::Cell;

use crate::ast::{Name, Native};
use crate::lexer::{self, Keyword, Symbol, Token, TokenKind};
use crate::source::{Diagnostic, Span};

/// How many constructs may stand in one another.
const DEEPEST_NESTING: u32 = 100;

/// How many two-operand operators one expression may have: each may deepen its tree by one.
const MOST_OPERATORS: u32 = 500;

/// How many tokens of a file are looked at for where another language's construct ends.
const MOST_LOOKS: u32 = 1_000_000;

/// Something could not be read; it has been reported.
pub(super) struct Failed;

/// A part of the tree, unless it could not be read.
pub(super) type Parsed<T> = Result<T, Failed>;

/// What stands in braces before the name of a component or an interface.
#[derive(Default)]
pub(super) struct Attributes {
    pub(super) names: Vec<Name>,
    pub(super) native: Option<Native>,
    pub(super) capacity: Option<(i64, Span)>,
}

/// A component, procedure, ... that is being read.
pub(super) struct Unit {
    pub(super) name: Name,
    /// Its END seems to be missing, which has been reported.
    pub(super) suspect: bool,
    /// Too much of it could not be read, so it is left out of the tree.
    pub(super) lost: bool,
    /// How many units had been declared before it.
    pub(super) declared_before: usize,
    /// How many statements of its block are open.
    pub(super) open_structures: u32,
    /// It begins with another language's word, which has been reported.
    pub(super) is_foreign: bool,
}

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<Token>,
    /// Index of the next token; never beyond the last, which is `TokenKind::End`.
    pub(super) position: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Index of the token at which an error was reported last: one error for each place.
    pub(super) reported_at: Option<usize>,
    /// How many constructs are open.
    nesting: u32,
    /// How many branches of CASE and SELECT are open, which end at `|`.
    pub(super) open_branches: u32,
    /// How many expressions are open.
    pub(super) open_expressions: u32,
    /// How many operators the outermost open expression has so far.
    pub(super) operators: u32,
    /// Components, procedures, ... that are open, outermost first.
    pub(super) units: Vec<Unit>,
    /// The names of all components, interfaces and procedures so far.
    pub(super) declared: Vec<Name>,
    /// How many times statements were skipped.
    pub(super) lost_statements: u32,
    /// Something at the top level could not be read.
    pub(super) lost: bool,
    /// Stretches that were skipped as a whole, in order of place.
    pub(super) skipped: Vec<Span>,
    /// How many tokens may still be looked at for where another language's construct ends.
    pub(super) looks_left: Cell<u32>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, tokens: Vec<Token>) -> Self {
        Parser {
            text,
            tokens,
            position: 0,
            diagnostics: Vec::new(),
            reported_at: None,
            nesting: 0,
            open_branches: 0,
            open_expressions: 0,
            operators: 0,
            units: Vec::new(),
            declared: Vec::new(),
            lost_statements: 0,
            lost: false,
            skipped: Vec::new(),
            looks_left: Cell::new(MOST_LOOKS),
        }
    }

    pub(super) fn has_skipped(&self, span: Span) -> bool {
        let after = self.skipped.partition_point(|skipped| skipped.start <= span.start);
        after > 0 && span.start < self.skipped[after - 1].end
    }

    // Looking at tokens.

    pub(super) fn token(&self) -> Token {
        self.tokens[self.position]
    }

    pub(super) fn kind(&self) -> TokenKind {
        self.token().kind
    }

    pub(super) fn token_after(&self, ahead: usize) -> Token {
        self.tokens[(self.position + ahead).min(self.tokens.len() - 1)]
    }

    pub(super) fn kind_after(&self, ahead: usize) -> TokenKind {
        self.token_after(ahead).kind
    }

    pub(super) fn at(&self, kind: impl Into<TokenKind>) -> bool {
        self.kind() == kind.into()
    }

    pub(super) fn keyword(&self) -> Option<Keyword> {
        match self.kind() {
            TokenKind::Keyword(keyword) => Some(keyword),
            _ => None,
        }
    }

    pub(super) fn at_any(&self, keywords: &[Keyword]) -> bool {
        self.keyword().is_some_and(|keyword| keywords.contains(&keyword))
    }

    pub(super) fn at_end(&self) -> bool {
        self.at(TokenKind::End)
    }

    pub(super) fn text_of(&self, token: Token) -> &'a str {
        &self.text[token.span.start as usize..token.span.end as usize]
    }

    /// The place of the token read last.
    pub(super) fn previous(&self) -> Span {
        self.tokens[self.position.saturating_sub(1)].span
    }

    /// From the start of `first` to the end of the token read last.
    pub(super) fn since(&self, first: Span) -> Span {
        if self.previous().end < first.start { first } else { first.to(self.previous()) }
    }

    // Reading tokens.

    pub(super) fn advance(&mut self) -> Token {
        let token = self.token();
        if !self.at_end() {
            self.position += 1;
        }
        token
    }

    pub(super) fn accept(&mut self, kind: impl Into<TokenKind>) -> bool {
        let found = self.at(kind);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect(&mut self, kind: impl Into<TokenKind>) -> Parsed<Span> {
        let kind = kind.into();
        if self.at(kind) { Ok(self.advance().span) } else { self.unexpected(&written(kind)) }
    }

    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        if !self.at(TokenKind::Name) {
            return self.unexpected(what);
        }
        let token = self.advance();
        Ok(Name { text: self.text_of(token).to_string(), span: token.span })
    }

    /// `[Import "."] Name`
    pub(super) fn qualified(&mut self, what: &str) -> Parsed<Name> {
        let import = self.name(what)?;
        if !(self.at(Symbol::Period) && self.kind_after(1) == TokenKind::Name) {
            return Ok(import);
        }
        self.advance();
        let name = self.name(what)?;
        Ok(Name { text: format!("{}.{}", import.text, name.text), span: import.span.to(name.span) })
    }

    /// The name that begins `ahead` tokens from here, with what qualifies it; for messages.
    pub(super) fn name_ahead(&self, ahead: usize) -> String {
        let tokens = [ahead, ahead + 1, ahead + 2].map(|ahead| self.token_after(ahead));
        let [import, point, name] = tokens;
        if point.kind == Symbol::Period.into() && name.kind == TokenKind::Name {
            return format!("{}.{}", self.text_of(import), self.text_of(name));
        }
        self.text_of(import).to_string()
    }

    /// `first {, more}`
    pub(super) fn list<T>(&mut self, mut element: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut elements = vec![element(self)?];
        while self.accept(Symbol::Comma) {
            elements.push(element(self)?);
        }
        Ok(elements)
    }

    /// `{A, B}`, if it is there.
    pub(super) fn attributes(&mut self) -> Parsed<Vec<Name>> {
        if !self.accept(Symbol::LeftBrace) {
            return Ok(Vec::new());
        }
        let names = self.list(|parser| parser.name("the name of an attribute"))?;
        self.expect(Symbol::RightBrace)?;
        Ok(names)
    }

    /// Likewise of a component or an interface, where values may stand behind names.
    pub(super) fn attributes_of_unit(&mut self) -> Parsed<Attributes> {
        let mut read = Attributes::default();
        if !self.accept(Symbol::LeftBrace) {
            return Ok(read);
        }
        loop {
            let name = self.name("the name of an attribute")?;
            match name.text.as_str() {
                "NATIVE" => read.native = Some(self.native(name.span)?),
                "CAPACITY" if read.capacity.is_some() => {
                    let error = Diagnostic::new("unknown-attribute", name.span, "CAPACITY stands here twice");
                    self.report(error);
                    self.bound("a number of messages after `CAPACITY`")?;
                }
                "CAPACITY" => {
                    let places = self.bound("a number of messages after `CAPACITY`")?;
                    read.capacity = Some((places, self.since(name.span)));
                }
                _ => read.names.push(name),
            }
            if !self.accept(Symbol::Comma) {
                break;
            }
        }
        self.expect(Symbol::RightBrace)?;
        Ok(read)
    }

    /// What stands behind `NATIVE`.
    fn native(&mut self, first: Span) -> Parsed<Native> {
        if !self.at(TokenKind::String) {
            let expected = "the path of a Rust type or trait after `NATIVE`";
            return self.unexpected_with_help(expected, "for example {NATIVE \"kortex_thread::RoundRobin\"}");
        }
        let token = self.advance();
        let path = String::from_utf8_lossy(&lexer::string_bytes(self.text_of(token))).into_owned();
        Ok(Native { path, span: self.since(first) })
    }

    // Errors.

    /// Reports an error, unless this very place has one already.
    pub(super) fn report(&mut self, mut diagnostic: Diagnostic) {
        if self.reported_at != Some(self.position) && !self.at_lexical_error() {
            if diagnostic.code == "unexpected-token" {
                diagnostic.help = diagnostic.help.or_else(|| self.habit());
            }
            self.diagnostics.push(diagnostic);
        }
        self.reported_at = Some(self.position);
    }

    /// Whether the next token was reported by the lexer. Also true at the end of a file that ends within a comment.
    pub(super) fn at_lexical_error(&self) -> bool {
        let before = self.tokens[self.position.saturating_sub(1)].kind;
        self.at(TokenKind::Bad) || self.at(TokenKind::BadNumber) || self.at_end() && before == TokenKind::Bad
    }

    pub(super) fn unexpected<T>(&mut self, expected: &str) -> Parsed<T> {
        let message = format!("expected {expected}, found {}", self.found());
        self.report(Diagnostic::new("unexpected-token", self.token().span, message));
        Err(Failed)
    }

    /// Like `unexpected`, saying what to do.
    pub(super) fn unexpected_with_help<T>(&mut self, expected: &str, help: &str) -> Parsed<T> {
        let message = format!("expected {expected}, found {}", self.found());
        self.report(Diagnostic::new("unexpected-token", self.token().span, message).help(help));
        Err(Failed)
    }

    /// The next token, as messages name it.
    pub(super) fn found(&self) -> String {
        match self.kind() {
            TokenKind::End => "the end of the file".to_string(),
            TokenKind::String => "a string".to_string(),
            _ => format!("`{}`", self.text_of(self.token()).escape_debug()),
        }
    }

    /// Reads a construct that may contain itself. If the nesting is too deep, reports that and gives up the rest of the
    /// file, since the constructs behind it can't be told apart.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting == DEEPEST_NESTING {
            return self.give_up(format!("more than {DEEPEST_NESTING} constructs stand in one another here"));
        }
        self.nesting += 1;
        let result = read(self);
        self.nesting -= 1;
        result
    }

    /// Counts an operator, which may deepen the tree of its expression.
    pub(super) fn count_operator(&mut self) -> Parsed<()> {
        self.operators += 1;
        if self.operators > MOST_OPERATORS {
            return self.give_up(format!("this expression has more than {MOST_OPERATORS} operators"));
        }
        Ok(())
    }

    pub(super) fn give_up<T>(&mut self, message: String) -> Parsed<T> {
        let help = "give a part of it a name of its own";
        self.report(Diagnostic::new("nesting-too-deep", self.token().span, message).help(help));
        self.position = self.tokens.len() - 1;
        self.reported_at = Some(self.position);
        self.lost = true;
        Err(Failed)
    }

    // Recovery.

    /// Skips to the first token that `stops` accepts, at the latest to the end of the file.
    pub(super) fn skip_until(&mut self, stops: impl Fn(&Self) -> bool) {
        while !self.at_end() && !stops(self) {
            self.advance();
        }
    }
}

/// A token kind, as messages name it.
fn written(kind: TokenKind) -> String {
    match kind {
        TokenKind::Keyword(keyword) => format!("`{}`", keyword.text()),
        TokenKind::Symbol(symbol) => format!("`{}`", symbol.text()),
        TokenKind::Name => "a name".to_string(),
        TokenKind::Integer(_) | TokenKind::Bits(_) => "a number".to_string(),
        _ => "something else".to_string(),
    }
}
