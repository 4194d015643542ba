//! Declarations that begin with another language's word. Each is reported once. Then it is read as the declaration that
//! was meant, or skipped if its shape is another language's too.

use super::blocks::CLAUSES;
use super::declarations::{DECLARATIONS, Sort};
use super::state::{Parsed, Parser};
use crate::ast::Declaration;
use crate::lexer::{Keyword, Symbol, Token, TokenKind};

/// Words that begin declarations in other languages, with the keyword of a similar declaration here, if there is one.
const WORDS: &[(Option<Keyword>, &[&str])] = &[
    (
        Some(Keyword::Procedure),
        &["procedure", "function", "func", "fun", "fn", "def", "sub", "subroutine", "method", "void"],
    ),
    (
        Some(Keyword::Component),
        &[
            "component",
            "class",
            "module",
            "program",
            "object",
            "task",
            "process",
            "thread",
            "actor",
            "monitor",
        ],
    ),
    (Some(Keyword::Interface), &["interface", "trait", "protocol"]),
    (Some(Keyword::Implementation), &["implementation", "impl"]),
    (
        Some(Keyword::Variable),
        &[
            "variable",
            "var",
            "let",
            "dim",
            "global",
            "property",
            "int",
            "long",
            "integer",
            "float",
            "double",
            "real",
            "bool",
            "boolean",
            "char",
            "character",
            "string",
            "text",
        ],
    ),
    (Some(Keyword::Constant), &["constant", "const"]),
    (None, &["type", "struct", "record", "union", "enum", "exception", "label", "array", "definition"]),
];

/// Words before a declaration in other languages: visibility and storage.
const MODIFIERS: &[&str] = &[
    "public",
    "private",
    "protected",
    "internal",
    "export",
    "extern",
    "static",
    "final",
    "abstract",
    "virtual",
    "override",
    "inline",
    "pub",
    "async",
    "shared",
    "global",
];

/// Words that begin a declaration with a body up to END in other languages.
const RECORDS: &[&str] = &["record", "struct", "union", "enum", "object", "class"];

impl Parser<'_> {
    /// Whether a declaration begins here with another language's word. A name follows it, and no statement could begin
    /// so.
    pub(super) fn at_foreign_declaration(&self) -> bool {
        self.meant_declaration().is_some()
    }

    pub(super) fn at_declaration(&self) -> bool {
        self.at_any(DECLARATIONS) || self.at_foreign_declaration()
    }

    /// Reads that declaration.
    pub(super) fn foreign_declaration(
        &mut self,
        sort: Sort,
        declarations: &mut Vec<Declaration>,
    ) -> Parsed<()> {
        self.skip_modifiers();
        let meant = self.meant_declaration().flatten();
        let _: Parsed<()> = self.unexpected("a declaration");
        match meant {
            Some(keyword) if self.has_shape_of(keyword) => self.declaration(keyword, sort, declarations),
            _ => {
                let first = self.position;
                match self.end_of_foreign_unit() {
                    Some(end) => self.skip_to(end),
                    None => {
                        let first = self.position;
                        self.skip_foreign_declaration();
                        let end = std::mem::replace(&mut self.position, first);
                        self.skip_to(end);
                    }
                }
                self.lose_units();
                declarations.push(Declaration::Lost(self.names_since(first)));
                Ok(())
            }
        }
    }

    /// Skips modifiers before a word for declarations, since the error is better reported at that word.
    pub(super) fn skip_modifiers(&mut self) {
        while self.is_modifier(self.position) && self.word_at(self.position + 1).is_some() {
            self.advance();
        }
    }

    /// Skips a declaration among statements.
    pub(super) fn foreign_declaration_within_block(&mut self) {
        self.skip_modifiers();
        let _: Parsed<()> = self.unexpected("a statement (declarations stand before `BEGIN`)");
        match self.meant_declaration().flatten() {
            // What follows its `;` may be a statement.
            Some(Keyword::Variable | Keyword::Constant) => self.skip_foreign_declaration(),
            _ => {
                let _: Parsed<()> = self.foreign_declaration(Sort::Procedure, &mut Vec::new());
            }
        }
        self.lose_units();
        self.lost_statements += 1;
    }

    fn meant_declaration(&self) -> Option<Option<Keyword>> {
        let (here, after) = (self.token(), self.token_after(1));
        if here.kind != TokenKind::Name {
            return None;
        }
        if self.is_modifier(self.position) {
            let declares = matches!(after.kind, TokenKind::Name) && !self.begins_line(self.position + 1);
            return declares.then_some(None);
        }
        let meant = self.word_at(self.position)?;
        if after.kind != TokenKind::Name {
            return None;
        }
        let is_section = matches!(meant, None | Some(Keyword::Variable | Keyword::Constant));
        let entry_begins = [Symbol::Colon, Symbol::Comma, Symbol::Equal].map(TokenKind::from);
        let begins =
            !self.line_ends_between(here, after) || is_section && entry_begins.contains(&self.kind_after(2));
        begins.then_some(meant)
    }

    /// If the word there begins declarations in another language: the keyword of a similar declaration here, if there
    /// is one.
    fn word_at(&self, at: usize) -> Option<Option<Keyword>> {
        let word = self.lower_at(at);
        let (meant, _) = WORDS.iter().find(|(_, words)| words.contains(&word.as_str()))?;
        Some(*meant)
    }

    /// Whether the word there begins declarations, of any language.
    pub(super) fn is_declaring_word(&self, at: usize) -> bool {
        self.word_at(at).is_some()
    }

    fn is_modifier(&self, at: usize) -> bool {
        MODIFIERS.contains(&self.lower_at(at).as_str())
    }

    /// Behind the END of another language's declaration. It is the END that repeats its name or its word; or, for a
    /// record, the first one, unless that belongs to something else.
    pub(super) fn end_of_foreign_unit(&self) -> Option<usize> {
        let heading: Vec<&str> = (0..3)
            .map_while(|ahead| {
                (self.kind_after(ahead) == TokenKind::Name).then(|| self.text_at(self.position + ahead))
            })
            .collect();
        let is_record = RECORDS.contains(&self.lower_at(self.position).as_str());
        let mut is_first = is_record;
        for at in self.ahead_of(self.position + 1) {
            match self.tokens[at].kind {
                TokenKind::Keyword(Keyword::End) => {
                    let name = self.text_at(at + 1);
                    let closes_outer = self.units.iter().any(|unit| unit.name.text == name);
                    if heading.iter().any(|word| word.eq_ignore_ascii_case(name)) && !closes_outer {
                        return Some(self.behind_end(at + 2));
                    }
                    if is_first && !closes_outer && self.tokens[at + 1].kind != TokenKind::Name {
                        return Some(self.behind_end(at + 1));
                    }
                    if closes_outer {
                        return None;
                    }
                    is_first = false;
                }
                TokenKind::Keyword(Keyword::Begin) => is_first = false,
                TokenKind::Keyword(Keyword::Component | Keyword::Implementation | Keyword::Interface) => {
                    return None;
                }
                TokenKind::End => return None,
                _ => {}
            }
        }
        None
    }

    fn behind_end(&self, at: usize) -> usize {
        let divides = [Symbol::Semicolon, Symbol::Period].map(TokenKind::from);
        at + usize::from(divides.contains(&self.tokens[at.min(self.tokens.len() - 1)].kind))
    }

    /// Skips `(s: Type)` behind PROCEDURE: the receiver of a method in Oberon-2.
    pub(super) fn receiver(&mut self) {
        if !self.at(Symbol::LeftParenthesis) {
            return;
        }
        let closes = |&ahead: &usize| {
            let kind = self.kind_after(ahead);
            kind == Symbol::RightParenthesis.into()
                || kind == Symbol::Semicolon.into()
                || kind == TokenKind::End
        };
        let end = (1..).find(closes).unwrap_or(1);
        if self.kind_after(end) == Symbol::RightParenthesis.into()
            && self.kind_after(end + 1) == TokenKind::Name
        {
            let help = "a procedure belongs to the component in which it stands";
            let _: Parsed<()> = self.unexpected_with_help("the name of the procedure", help);
            self.position += end + 1;
            self.lose_units();
        }
    }

    /// Skips `FORWARD;` behind a heading. Gives whether it is there.
    pub(super) fn is_announced_only(&mut self) -> bool {
        let is_forward = self.at(TokenKind::Name)
            && self.lower_at(self.position) == "forward"
            && self.kind_after(1) == Symbol::Semicolon.into();
        if is_forward {
            let _: Parsed<()> = self.unexpected("the body of this procedure");
            self.position += 2;
        }
        is_forward
    }

    /// Whether the text behind the word and the name has the shape of a declaration of this language.
    fn has_shape_of(&self, keyword: Keyword) -> bool {
        let after_name = self.kind_after(2);
        let is_any = |symbols: &[Symbol]| symbols.iter().any(|&symbol| after_name == symbol.into());
        match keyword {
            Keyword::Procedure => self.heading_has_our_shape(),
            Keyword::Variable => is_any(&[Symbol::Colon, Symbol::Comma, Symbol::LeftBracket]),
            Keyword::Constant => is_any(&[Symbol::Equal]),
            Keyword::Interface => is_any(&[Symbol::Semicolon]),
            _ => {
                let heads = [Symbol::Semicolon.into(), Keyword::Offers.into(), Keyword::Requires.into()];
                let goes_on = match self.kind_after(3) {
                    TokenKind::Keyword(_) | TokenKind::End => true,
                    kind => {
                        kind == TokenKind::Name
                            && (after_name != Symbol::Semicolon.into() || self.begins_declaration_at(3))
                    }
                };
                heads.contains(&after_name) && goes_on
            }
        }
    }

    fn begins_declaration_at(&self, ahead: usize) -> bool {
        let is_word =
            self.is_declaring_word(self.position + ahead) || self.is_modifier(self.position + ahead);
        is_word && self.kind_after(ahead + 1) == TokenKind::Name
    }

    /// `word Name [(..)] [: Type];`, where no type stands on the line after its colon.
    fn heading_has_our_shape(&self) -> bool {
        let mut ahead = 2;
        if self.kind_after(ahead) == Symbol::LeftParenthesis.into() {
            let closes = |&ahead: &usize| {
                let kind = self.kind_after(ahead);
                kind == Symbol::RightParenthesis.into() || kind == TokenKind::End
            };
            ahead = 1 + (ahead..).find(closes).unwrap_or(ahead);
        }
        let (end, next) = (self.token_after(ahead), self.token_after(ahead + 1));
        let result = end.kind == Symbol::Colon.into() && !self.line_ends_between(end, next);
        result || end.kind == Symbol::Semicolon.into()
    }

    /// Skips to the declaration's `;` or `}`, or to what follows it. Text in braces, or between RECORD and END, is part
    /// of it.
    fn skip_foreign_declaration(&mut self) {
        let (mut open, mut parentheses) = (0, 0);
        self.advance();
        self.advance();
        while !self.at_end() {
            let word = self.lower_at(self.position);
            let begins_record = RECORDS.contains(&word.as_str())
                && (word == "record" || self.is_behind_type_sign())
                && self.kind_after(1) != Symbol::LeftBrace.into();
            if self.at(Symbol::LeftBrace) || begins_record {
                open += 1;
            } else if open > 0 && (self.at(Symbol::RightBrace) || self.at(Keyword::End)) {
                open -= 1;
                if open == 0 && self.at(Symbol::RightBrace) {
                    self.advance();
                    break;
                }
            } else if self.at(Symbol::LeftParenthesis) {
                parentheses += 1;
            } else if parentheses > 0 && self.at(Symbol::RightParenthesis) {
                parentheses -= 1;
            } else if open == 0
                && (parentheses == 0 || self.at_any(CLAUSES))
                && self.foreign_declaration_ends()
            {
                break;
            }
            self.advance();
        }
        self.accept(Symbol::Semicolon);
    }

    fn foreign_declaration_ends(&self) -> bool {
        self.at_declaration() && !self.is_behind_type_sign()
            || self.at_any(&[Keyword::Begin, Keyword::Activity, Keyword::Finally, Keyword::End])
            || self.at(Symbol::Semicolon) && !self.another_entry_follows()
    }

    /// Whether the next token stands behind `=`, OF or TO, where other languages have a type. Then it begins no
    /// declaration.
    fn is_behind_type_sign(&self) -> bool {
        let signs = [Symbol::Equal.into(), Keyword::Of.into(), Keyword::To.into()];
        signs.contains(&self.tokens[self.position - 1].kind)
    }

    /// `; Name =` or `; Name:`, which goes on with a section.
    fn another_entry_follows(&self) -> bool {
        let goes_on = [Symbol::Equal, Symbol::Colon].map(TokenKind::from).contains(&self.kind_after(2));
        self.kind_after(1) == TokenKind::Name && goes_on
    }

    pub(super) fn line_ends_between(&self, one: Token, other: Token) -> bool {
        let between = one.span.end as usize..other.span.start as usize;
        self.text.get(between).is_some_and(|between| between.contains('\n'))
    }
}
