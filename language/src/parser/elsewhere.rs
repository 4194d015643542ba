//! Declarations that begin with another language's word: reported once, then read as what was meant, or skipped where
//! their shape is another language's, too.

use super::declarations::{DECLARATIONS, Sort};
use super::{Parsed, Parser};
use crate::ast::Declaration;
use crate::lexer::{Keyword, Symbol, Token, TokenKind};

/// Words with which declarations begin elsewhere, and what they declare here. Nothing here is like TYPE.
const WORDS: &[(&str, Option<Keyword>)] = &[
    ("procedure", Some(Keyword::Procedure)),
    ("function", Some(Keyword::Procedure)),
    ("func", Some(Keyword::Procedure)),
    ("fun", Some(Keyword::Procedure)),
    ("fn", Some(Keyword::Procedure)),
    ("def", Some(Keyword::Procedure)),
    ("sub", Some(Keyword::Procedure)),
    ("method", Some(Keyword::Procedure)),
    ("void", Some(Keyword::Procedure)),
    ("component", Some(Keyword::Component)),
    ("class", Some(Keyword::Component)),
    ("struct", Some(Keyword::Component)),
    ("module", Some(Keyword::Component)),
    ("program", Some(Keyword::Component)),
    ("interface", Some(Keyword::Interface)),
    ("implementation", Some(Keyword::Implementation)),
    ("variable", Some(Keyword::Variable)),
    ("var", Some(Keyword::Variable)),
    ("let", Some(Keyword::Variable)),
    ("constant", Some(Keyword::Constant)),
    ("const", Some(Keyword::Constant)),
    ("type", None),
];

impl Parser<'_> {
    /// Whether a declaration begins here with another language's word: one that a name follows, where no statement
    /// would.
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
        let meant = self.meant_declaration().flatten();
        let _: Parsed<()> = self.unexpected("a declaration");
        match meant {
            Some(keyword) if self.has_shape_of(keyword) => self.declaration(keyword, sort, declarations),
            _ => {
                let first = self.position;
                self.skip_foreign_declaration();
                self.lose_units();
                declarations.push(Declaration::Lost(self.names_since(first)));
                Ok(())
            }
        }
    }

    /// Reads over one that stands among statements.
    pub(super) fn foreign_declaration_within_block(&mut self) {
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
        if [here.kind, after.kind] != [TokenKind::Name; 2] {
            return None;
        }
        let word = self.text_of(here).to_ascii_lowercase();
        let (_, meant) = WORDS.iter().find(|(foreign, _)| *foreign == word)?;
        let is_section = matches!(meant, None | Some(Keyword::Variable | Keyword::Constant));
        let entry_begins = [Symbol::Colon, Symbol::Comma, Symbol::Equal].map(TokenKind::from);
        let begins =
            !self.line_ends_between(here, after) || is_section && entry_begins.contains(&self.kind_after(2));
        begins.then_some(*meant)
    }

    /// Whether what stands behind the word and the name is how this is declared here.
    fn has_shape_of(&self, keyword: Keyword) -> bool {
        let after_name = self.kind_after(2);
        let is_any = |symbols: &[Symbol]| symbols.iter().any(|&symbol| after_name == symbol.into());
        match keyword {
            Keyword::Procedure => self.heading_has_our_shape(),
            Keyword::Variable => is_any(&[Symbol::Colon, Symbol::Comma, Symbol::LeftBracket]),
            Keyword::Constant => is_any(&[Symbol::Equal]),
            _ => !is_any(&[Symbol::LeftBrace, Symbol::LeftParenthesis, Symbol::Colon]),
        }
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

    /// To its `;` or `}`, or to what follows it; what it has in braces, and between RECORD and END, is part of it.
    fn skip_foreign_declaration(&mut self) {
        let mut open = 0;
        self.advance();
        while !self.at_end() {
            let word = self.text_of(self.token());
            if self.at(Symbol::LeftBrace) || word.eq_ignore_ascii_case("RECORD") {
                open += 1;
            } else if open > 0 && (self.at(Symbol::RightBrace) || self.at(Keyword::End)) {
                open -= 1;
                if open == 0 && self.at(Symbol::RightBrace) {
                    self.advance();
                    break;
                }
            } else if open == 0 && self.foreign_declaration_ends() {
                break;
            }
            self.advance();
        }
        self.accept(Symbol::Semicolon);
    }

    fn foreign_declaration_ends(&self) -> bool {
        self.at_declaration()
            || self.at_any(&[Keyword::Begin, Keyword::Activity, Keyword::Finally, Keyword::End])
            || self.at(Symbol::Semicolon) && !self.another_entry_follows()
    }

    /// `; Name =` or `; Name:`, which goes on with a section.
    fn another_entry_follows(&self) -> bool {
        let goes_on = [Symbol::Equal, Symbol::Colon].map(TokenKind::from).contains(&self.kind_after(2));
        self.kind_after(1) == TokenKind::Name && goes_on
    }

    fn line_ends_between(&self, one: Token, other: Token) -> bool {
        let between = one.span.end as usize..other.span.start as usize;
        self.text.get(between).is_some_and(|between| between.contains('\n'))
    }
}
