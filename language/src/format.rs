//! The formatter lays out the tokens and comments of a program that parses. It keeps every token except superfluous
//! semicolons, so that it can't change the meaning of the program. The contents of a unit or a structured statement are
//! indented by one step. Simple statements and declarations that share a line stay on one line. Several blank lines
//! become one.

mod line;
mod protocol;
mod spacing;

use crate::lexer::{self, Keyword, Symbol, TokenKind};
use crate::parser;
use crate::source::{Diagnostic, Span};

/// The width at which lines are wrapped where that is possible.
const WIDTH: usize = 110;

/// The number of spaces for each step of indentation.
const STEP: usize = 2;

/// Lays out the text of a program, or gives the errors that prevent parsing.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let (_, errors) = parser::parse(0, text);
    if !errors.is_empty() {
        return Err(errors);
    }
    let (items, output) = (items(text), String::new());
    let mut printer = Printer { items, position: 0, output, joinable: false, opened: false };
    printer.file();
    Ok(printer.output)
}

/// A token or a comment.
#[derive(Clone, Copy)]
struct Item<'a> {
    text: &'a str,
    /// `None` for a comment.
    token: Option<TokenKind>,
    /// The number of line ends between this item and the previous one.
    line_ends: usize,
    /// The column at which the item began.
    column: usize,
}

impl Item<'_> {
    fn is_comment(&self) -> bool {
        self.token.is_none()
    }

    fn is(&self, kind: impl Into<TokenKind>) -> bool {
        self.token == Some(kind.into())
    }

    fn keyword(&self) -> Option<Keyword> {
        match self.token {
            Some(TokenKind::Keyword(keyword)) => Some(keyword),
            _ => None,
        }
    }
}

/// Tokens and comments in order; the last item is the end of the text.
fn items(text: &str) -> Vec<Item<'_>> {
    let lexed = lexer::lex(0, text);
    let tokens = lexed.tokens.iter().map(|token| (token.span, Some(token.kind)));
    let comments = lexed.comments.iter().map(|&span| (span, None));
    let mut all: Vec<(Span, Option<TokenKind>)> = tokens.chain(comments).collect();
    all.sort_by_key(|(span, token)| (span.start, token.is_some()));
    let (mut previous_end, mut end_column) = (0, 0);
    let mut items = Vec::with_capacity(all.len());
    for (span, token) in all {
        let (start, end) = (span.start as usize, span.end as usize);
        let line_ends = text[previous_end..start].matches('\n').count();
        let column = column_behind(&text[previous_end..start], end_column);
        items.push(Item { text: &text[start..end], token, line_ends, column });
        (previous_end, end_column) = (end, column_behind(&text[start..end], column));
    }
    items
}

/// The column, in characters, after a text that begins at `column`.
fn column_behind(text: &str, column: usize) -> usize {
    match text.rfind('\n') {
        Some(newline) => text[newline + 1..].chars().count(),
        None => column + text.chars().count(),
    }
}

/// Keywords that end a block; `|` does so, too.
const CLOSERS: &[Keyword] =
    &[Keyword::End, Keyword::Else, Keyword::Elsif, Keyword::Until, Keyword::Activity, Keyword::Finally];

struct Printer<'a> {
    items: Vec<Item<'a>>,
    /// Index of the next item.
    position: usize,
    output: String,
    /// Whether the next statement on the same source line may continue the line written last.
    joinable: bool,
    /// Whether the line written last opened a block; then no blank line follows it.
    opened: bool,
}

impl<'a> Printer<'a> {
    fn file(&mut self) {
        while !self.item().is(TokenKind::End) {
            match self.next_keyword() {
                _ if self.item().is_comment() => self.comment(0),
                Some(Keyword::Import) => self.line_through(0, Symbol::Semicolon.into()),
                Some(Keyword::Constant) => self.section(0),
                _ if self.begins_record(self.position) => self.record(0),
                _ => self.unit(0),
            }
        }
        if !self.output.is_empty() {
            self.output.push('\n');
        }
    }

    fn item(&self) -> Item<'a> {
        self.items[self.position]
    }

    /// The keyword of the next token, skipping comments.
    fn next_keyword(&self) -> Option<Keyword> {
        self.next_token().keyword()
    }

    fn next_token(&self) -> Item<'a> {
        let rest = &self.items[self.position..];
        *rest.iter().find(|item| !item.is_comment()).unwrap_or(&self.items[self.items.len() - 1])
    }

    /// A component, interface, implementation or procedure.
    fn unit(&mut self, indent: usize) {
        let is_interface = self.item().is(Keyword::Interface);
        let is_heading = self.item().is(Keyword::Procedure) && self.is_native_procedure();
        self.line_through(indent, Symbol::Semicolon.into());
        if is_heading {
            self.joinable = false;
            return;
        }
        self.opened = true;
        if is_interface {
            self.protocol(indent + STEP);
        }
        loop {
            let next = self.next_keyword();
            if self.item().is_comment() {
                let belongs_to_section = next.is_some_and(|next| next != Keyword::End && !begins_unit(next));
                self.comment(if belongs_to_section { indent } else { indent + STEP });
                continue;
            }
            match next {
                Some(Keyword::Variable | Keyword::Constant) => self.section(indent),
                Some(keyword) if begins_unit(keyword) => self.unit(indent + STEP),
                None if self.begins_record(self.position) => self.record(indent + STEP),
                Some(Keyword::Begin | Keyword::Activity | Keyword::Finally) => {
                    self.opening(indent);
                    self.block(indent + STEP);
                }
                _ => return self.line_through(indent, Symbol::Semicolon.into()),
            }
        }
    }

    /// Whether the procedure here is NATIVE, and has neither body nor END.
    fn is_native_procedure(&self) -> bool {
        let heading = &self.items[self.position..self.after_attributes(self.position + 1)];
        heading.iter().any(|item| item.text == "NATIVE")
    }

    /// Whether a record begins there, behind comments: RECORD is no keyword.
    fn begins_record(&self, index: usize) -> bool {
        let mut tokens = self.items[index..].iter().filter(|item| !item.is_comment());
        let mut is_name = |text: &str| {
            let next = tokens.next();
            next.is_some_and(|item| item.is(TokenKind::Name) && (text.is_empty() || item.text == text))
        };
        is_name("RECORD") && is_name("")
    }

    /// A record. It stays on one line if it was on one line, and fits.
    fn record(&mut self, indent: usize) {
        let behind = |from: usize, last: TokenKind| {
            let length = self.items[from..].iter().take_while(|item| !item.is(last)).count();
            self.items.len().min(from + length + 1)
        };
        let end = behind(behind(self.position, Keyword::End.into()), Symbol::Semicolon.into());
        let rest = &self.items[self.position + 1..end];
        let width: usize = rest.iter().map(|item| item.text.len() + 1).sum();
        let is_short = indent + self.item().text.len() + width <= WIDTH;
        if is_short && rest.iter().all(|item| item.line_ends == 0 && !item.is_comment()) {
            return self.line(indent, end, Joining::Never);
        }
        self.line_through(indent, Symbol::Semicolon.into());
        self.opened = true;
        self.joinable = false;
        while self.next_token().is(TokenKind::Name) {
            if self.item().is_comment() {
                self.comment(indent + STEP);
                continue;
            }
            let of_record = self.items[self.position..].iter().position(|item| item.is(Keyword::End));
            let last = of_record.map_or(self.items.len(), |length| self.position + length);
            let end = self.end_through(Symbol::Semicolon.into()).min(last);
            self.line(indent + STEP, end, Joining::Simple);
        }
        while self.item().is_comment() {
            self.comment(indent + STEP);
        }
        self.line_through(indent, Symbol::Semicolon.into());
    }

    /// CONSTANT or VARIABLE and its entries. They stay on one line if they were on one line, and fit.
    fn section(&mut self, indent: usize) {
        let in_one_line = self.section_shares_line(indent);
        self.line(indent, self.position + 1, Joining::Never);
        self.joinable = in_one_line;
        self.opened = true;
        while self.next_token().is(TokenKind::Name) && !self.begins_record(self.position) {
            if self.item().is_comment() {
                self.comment(indent + STEP);
            } else {
                let end = self.end_through(Symbol::Semicolon.into());
                self.line(indent + STEP, end, Joining::Simple);
            }
        }
    }

    fn section_shares_line(&self, indent: usize) -> bool {
        let rest = &self.items[self.position..];
        let mut width = indent + rest[0].text.len();
        let (mut depth, mut at_entry, mut line_ends) = (0_usize, true, 0);
        for (index, item) in rest.iter().enumerate().skip(1) {
            line_ends += item.line_ends;
            let is_entry = item.is(TokenKind::Name) && !self.begins_record(self.position + index);
            if at_entry && !is_entry && !item.is_comment() {
                break;
            }
            let may_follow_section = at_entry && item.is_comment();
            if line_ends > 0 && !may_follow_section {
                return false;
            }
            line_ends += item.text.matches('\n').count();
            if may_follow_section {
                width += if line_ends == 0 { item.text.len() + 1 } else { 0 };
                continue;
            }
            width += item.text.len() + 1;
            depth = (depth + usize::from(opens(item))).saturating_sub(usize::from(closes(item)));
            at_entry = depth == 0 && item.is(Symbol::Semicolon);
        }
        width <= WIDTH
    }

    /// BEGIN, ELSE and similar, with the attributes that follow.
    fn opening(&mut self, indent: usize) {
        self.line(indent, self.after_attributes(self.position + 1), Joining::Never);
        self.opened = true;
    }

    /// The head of a statement up to THEN or DO, with the attributes of the block.
    fn head(&mut self, indent: usize, last: Keyword) {
        let end = self.end_through(last.into());
        self.line(indent, self.after_attributes(end), Joining::Never);
        self.opened = true;
    }

    /// CASE with its branches.
    fn case(&mut self, indent: usize) {
        self.head(indent, Keyword::Of);
        self.branches(indent);
    }

    /// SELECT with its branches.
    fn select(&mut self, indent: usize) {
        self.line(indent, self.position + 1, Joining::Never);
        self.opened = true;
        self.branches(indent);
    }

    /// The branches of CASE or SELECT, ELSE, and END. A statement that begins in the line of its branch stays there, if
    /// it fits.
    fn branches(&mut self, indent: usize) {
        while self.item().is_comment() {
            self.comment(indent + STEP);
        }
        while !self.item().is(Keyword::Else) && !self.item().is(Keyword::End) {
            let before = if self.item().is(Symbol::Bar) { indent } else { indent + STEP };
            let end = self.end_through(Symbol::Colon.into());
            self.line(before, self.after_attributes(end), Joining::Never);
            self.opened = true;
            self.joinable = true;
            self.block(indent + 2 * STEP);
        }
        if self.item().is(Keyword::Else) {
            self.opening(indent);
            self.block(indent + STEP);
        }
        self.rest_of_statement(indent, Joining::Never);
    }

    /// Whether the next item begins a CASE statement.
    fn at_case(&self) -> bool {
        let behind = self.items[self.position + 1..].iter().filter_map(|item| item.token);
        self.item().is(TokenKind::Name) && parser::is_case(self.item().text, behind)
    }

    /// Whether the next item begins a SELECT statement.
    fn at_select(&self) -> bool {
        let behind = self.items[self.position + 1..].iter();
        let behind = behind.filter_map(|item| item.token.map(|token| (token, item.text)));
        self.item().is(TokenKind::Name) && parser::is_select(self.item().text, behind)
    }

    fn after_attributes(&self, end: usize) -> usize {
        let mut next = end;
        while self.items[next].is_comment() {
            next += 1;
        }
        if !self.items[next].is(Symbol::LeftBrace) {
            return end;
        }
        let length = self.items[next..].iter().take_while(|item| !item.is(Symbol::RightBrace)).count();
        next + length + 1
    }

    fn block(&mut self, indent: usize) {
        loop {
            if self.item().is_comment() {
                self.comment(indent);
            } else if self.item().is(Symbol::Semicolon) {
                self.position += 1;
            } else if self.at_closer(self.position) {
                return;
            } else {
                self.statement(indent);
            }
        }
    }

    fn at_closer(&self, index: usize) -> bool {
        let item = self.items[index];
        item.is(TokenKind::End)
            || item.is(Symbol::Bar)
            || item.keyword().is_some_and(|keyword| CLOSERS.contains(&keyword))
    }

    fn statement(&mut self, indent: usize) {
        match self.item().keyword() {
            Some(Keyword::If) => {
                self.head(indent, Keyword::Then);
                self.block(indent + STEP);
                while self.item().is(Keyword::Elsif) {
                    self.head(indent, Keyword::Then);
                    self.block(indent + STEP);
                }
                if self.item().is(Keyword::Else) {
                    self.opening(indent);
                    self.block(indent + STEP);
                }
                self.rest_of_statement(indent, Joining::Never);
            }
            Some(Keyword::While | Keyword::For | Keyword::Foreach) => {
                self.head(indent, Keyword::Do);
                self.block(indent + STEP);
                self.rest_of_statement(indent, Joining::Never);
            }
            Some(Keyword::Begin | Keyword::Repeat) => {
                self.opening(indent);
                self.block(indent + STEP);
                self.rest_of_statement(indent, Joining::Never);
            }
            _ if self.at_case() => self.case(indent),
            _ if self.at_select() => self.select(indent),
            _ => self.rest_of_statement(indent, Joining::Simple),
        }
    }

    /// Writes the items up to the `;`, which is dropped if no statement follows.
    fn rest_of_statement(&mut self, indent: usize, joining: Joining) {
        let mut end = self.position + 1;
        let mut depth = usize::from(opens(&self.item()));
        while depth > 0 || !self.items[end].is(Symbol::Semicolon) && !self.at_closer(end) {
            let item = self.items[end];
            depth = (depth + usize::from(opens(&item))).saturating_sub(usize::from(closes(&item)));
            end += 1;
        }
        let mut next = end;
        while self.items[next].is(Symbol::Semicolon) || self.items[next].is_comment() {
            next += 1;
        }
        if self.items[end].is(Symbol::Semicolon) && !self.at_closer(next) {
            end += 1;
        } else {
            while self.items[end - 1].is_comment() {
                end -= 1;
            }
        }
        self.line(indent, end, joining);
    }

    fn line_through(&mut self, indent: usize, last: TokenKind) {
        let end = self.end_through(last);
        self.line(indent, end, Joining::Never);
    }

    /// The index after the first `last` outside parentheses.
    fn end_through(&self, last: TokenKind) -> usize {
        let mut depth = 0_usize;
        for (index, item) in self.items.iter().enumerate().skip(self.position) {
            if depth == 0 && item.is(last) {
                return index + 1;
            }
            depth = (depth + usize::from(opens(item))).saturating_sub(usize::from(closes(item)));
        }
        self.items.len() - 1
    }
}

/// Whether a line may share the previous line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joining {
    Simple,
    Never,
}

fn begins_unit(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::Component | Keyword::Interface | Keyword::Implementation | Keyword::Procedure)
}

fn opens(item: &Item<'_>) -> bool {
    matches!(
        item.token,
        Some(TokenKind::Symbol(Symbol::LeftParenthesis | Symbol::LeftBracket | Symbol::LeftBrace))
    )
}

fn closes(item: &Item<'_>) -> bool {
    matches!(
        item.token,
        Some(TokenKind::Symbol(Symbol::RightParenthesis | Symbol::RightBracket | Symbol::RightBrace))
    )
}
