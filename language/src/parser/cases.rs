//! CASE, over a value and over what arrives. The word is not reserved: something of the program may be called CASE.

use super::blocks::{CLAUSES, STATEMENTS};
use super::declarations::DECLARATIONS;
use super::state::{Parsed, Parser};
use crate::ast::{Arrival, Block, Label, Pattern, StatementKind};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::source::Span;

/// The word.
pub(super) const CASE: &str = "CASE";

/// The branches of a CASE, each with its head, and ELSE. `None` for those without the branches that can't be read.
pub(super) type Branches<H> = (Option<Vec<(H, Block)>>, Option<Block>);

/// Whether a statement that begins with a name is a CASE statement. Behind the name of something that is called CASE,
/// OF can't come before the statement ends.
pub(crate) fn is_case(name: &str, behind: impl IntoIterator<Item = TokenKind>) -> bool {
    name == CASE
        && behind.into_iter().find(|&kind| kind == Keyword::Of.into() || ends(kind)).is_some_and(is_of)
}

fn is_of(kind: TokenKind) -> bool {
    kind == Keyword::Of.into()
}

/// Whether a statement that begins with a name ends before such a token.
pub(super) fn ends(kind: TokenKind) -> bool {
    match kind {
        TokenKind::Keyword(keyword) => {
            CLAUSES.contains(&keyword) || STATEMENTS.contains(&keyword) || DECLARATIONS.contains(&keyword)
        }
        kind => kind == Symbol::Semicolon.into() || kind == Symbol::Bar.into() || kind == TokenKind::End,
    }
}

impl Parser<'_> {
    /// Whether a CASE statement begins here, perhaps one without OF.
    pub(super) fn at_case(&self) -> bool {
        let begins_value = matches!(
            self.kind_after(1),
            TokenKind::Name | TokenKind::Integer(_) | TokenKind::String | TokenKind::Character(_)
        );
        self.at(TokenKind::Name)
            && self.text_of(self.token()) == CASE
            && (begins_value && self.kind_after(2) != Symbol::Assign.into() || self.is_case_at(self.position))
    }

    /// Whether the name there begins a CASE statement.
    pub(super) fn is_case_at(&self, at: usize) -> bool {
        is_case(self.text_at(at), self.tokens[at + 1..].iter().map(|token| token.kind))
    }

    pub(super) fn case_statement(&mut self) -> Parsed<Option<StatementKind>> {
        let opening = self.advance().span;
        let of = self.tokens[self.position..].iter().position(|token| is_of(token.kind) || ends(token.kind));
        let before_of = of.and_then(|of| (self.position + of).checked_sub(1)).map(|at| self.tokens[at].kind);
        if before_of == Some(Symbol::Receive.into()) {
            return self.arrivals(opening);
        }
        let value = self.head_of_case(Parser::expression);
        let (branches, otherwise) = self.branches(Parser::labels)?;
        self.end_of_structure(opening)?;
        Ok(value.zip(branches).map(|(value, branches)| StatementKind::Case(value, branches, otherwise)))
    }

    /// `[channel] ? OF ..`, behind CASE.
    fn arrivals(&mut self, opening: Span) -> Parsed<Option<StatementKind>> {
        let channel = self.head_of_case(|parser| {
            let has_channel = !parser.at(Symbol::Receive);
            let channel = if has_channel { Some(parser.designator()?) } else { None };
            parser.expect(Symbol::Receive).map(|_| channel)
        });
        let (branches, otherwise) = self.branches(Parser::arrival)?;
        self.end_of_structure(opening)?;
        let statement = |(channel, branches)| StatementKind::Arrivals { channel, branches, otherwise };
        Ok(channel.zip(branches).map(statement))
    }

    /// What stands between CASE and OF. `None` if it can't be read; then it is skipped.
    fn head_of_case<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Option<T> {
        let head = read(self).and_then(|head| self.expect(Keyword::Of).map(|_| head));
        if head.is_err() {
            self.lost_statements += 1;
            self.skip_until(|parser| is_of(parser.kind()) || ends(parser.kind()) || parser.on_a_new_line());
            self.accept(Keyword::Of);
        }
        head.ok()
    }

    /// `[ "|" ] head ":" block { "|" head ":" block } [ "ELSE" block ]`
    pub(super) fn branches<H>(&mut self, head: fn(&mut Self) -> Parsed<H>) -> Parsed<Branches<H>> {
        let mut branches = Vec::new();
        let mut is_begun = self.accept(Symbol::Bar);
        while is_begun || !(self.at_any(CLAUSES) || self.at_any(DECLARATIONS) || self.at_end()) {
            let head = self.head_of_branch(head);
            let block = self.branch_block()?;
            branches.push(head.map(|head| (head, block)));
            is_begun = self.accept(Symbol::Bar);
            if !is_begun {
                break;
            }
        }
        let otherwise = if self.accept(Keyword::Else) { Some(self.inner_block(&[])?) } else { None };
        Ok((branches.into_iter().collect(), otherwise))
    }

    /// What stands before the `:` of a branch. `None` if it can't be read; then it is skipped.
    fn head_of_branch<H>(&mut self, read: fn(&mut Self) -> Parsed<H>) -> Option<H> {
        let head = read(self).and_then(|head| self.expect(Symbol::Colon).map(|_| head));
        if head.is_err() {
            self.lost_statements += 1;
            self.skip_until(|parser| parser.at(Symbol::Colon) || ends(parser.kind()));
            self.accept(Symbol::Colon);
        }
        head.ok()
    }

    fn labels(&mut self) -> Parsed<Vec<Label>> {
        self.list(|parser| {
            let from = parser.expression()?;
            let to = if parser.accept(Symbol::Range) { Some(parser.expression()?) } else { None };
            Ok(Label { from, to })
        })
    }

    /// `Name [ "(" Names ")" ] | FINISH`
    pub(super) fn arrival(&mut self) -> Parsed<Arrival> {
        let first = self.token().span;
        if self.accept(Keyword::Finish) {
            return Ok(Arrival { pattern: Pattern::Finish(first), variables: Vec::new(), span: first });
        }
        if self.at(Keyword::Any) {
            return self.unexpected_with_help("a message", "ELSE is for all that no branch takes");
        }
        let message = self.name("a message or `FINISH`")?;
        let variables = self.in_parentheses(|parser| parser.name("the name of a new variable"))?;
        if self.at(Symbol::Comma) {
            return self.unexpected_with_help("`:`", "each message has a branch of its own");
        }
        Ok(Arrival { pattern: Pattern::Message(message), variables, span: self.since(first) })
    }
}
