//! Statements of other languages: loops with braces, CASE, TRY, lines of BASIC. Each is reported once and skipped as a
//! whole, if its end can be found. Their words are not reserved in this language, so only text that can't be a
//! statement of it is looked at.

use super::blocks::CLAUSES;
use super::declarations::DECLARATIONS;
use super::state::{Parsed, Parser};
use crate::lexer::{Keyword, Symbol, TokenKind};

/// How many tokens are looked at for the end of one construct.
const FARTHEST: usize = 4096;

/// The longest word below.
const LONGEST: usize = 16;

/// Words that begin statements with a block in braces.
const BRACED: &[&str] = &[
    "if",
    "unless",
    "while",
    "until",
    "for",
    "foreach",
    "switch",
    "select",
    "match",
    "loop",
    "do",
    "try",
    "with",
    "using",
    "lock",
    "synchronized",
    "unsafe",
    "async",
    "go",
    "defer",
    "repeat",
];

/// Words behind a block in braces that go on with its statement.
const BRACED_GOES_ON: &[&str] = &["else", "elif", "elsif", "elseif", "catch", "except", "finally"];

/// Words that begin statements with a block up to END.
const BLOCKS: &[&str] = &["case", "switch", "select", "match", "loop", "with", "try", "unless"];

/// Words that begin a statement of one line.
const LINES: &[&str] = &[
    "print", "input", "goto", "gosub", "call", "rem", "exit", "break", "continue", "go", "spawn", "defer",
    "throw", "raise",
];

/// Reserved words that may stand before a `{` in the heading of a statement of another language.
const IN_EXPRESSIONS: &[Keyword] = &[
    Keyword::And,
    Keyword::Or,
    Keyword::Div,
    Keyword::Mod,
    Keyword::Is,
    Keyword::In,
    Keyword::Of,
    Keyword::To,
];

/// Single words that close blocks.
const CLOSERS: &[&str] =
    &["endif", "fi", "endwhile", "wend", "endfor", "next", "endloop", "od", "done", "endcase", "esac"];

impl Parser<'_> {
    /// Skips a statement of another language, if one begins here.
    pub(super) fn foreign_statement(&mut self) -> bool {
        let Some(end) = self.end_of_braces().or_else(|| self.end_of_line()).or_else(|| self.end_of_block())
        else {
            return false;
        };
        let expected = match self.keyword() {
            Some(Keyword::Do) | None => "a statement",
            Some(keyword) => {
                let is_brace = |&at: &usize| self.tokens[at].kind == Symbol::LeftBrace.into();
                self.position = (self.position..end).find(is_brace).unwrap_or(self.position);
                if keyword == Keyword::If { "`THEN`" } else { "`DO`" }
            }
        };
        let _: Parsed<()> = self.unexpected(expected);
        self.skip_to(end);
        self.lost_statements += 1;
        true
    }

    /// Skips to a token. One error is enough for the skipped text: bad characters in it are not reported.
    pub(super) fn skip_to(&mut self, end: usize) {
        self.skipped.push(self.token().span.to(self.tokens[end - 1].span));
        self.position = end;
    }

    /// The token behind a statement whose blocks stand in braces.
    fn end_of_braces(&self) -> Option<usize> {
        let word = self.lower_at(self.position);
        let has_attributes = self.keyword().is_some() && self.kind_after(1) == Symbol::LeftBrace.into();
        if has_attributes || !BRACED.contains(&word.as_str()) || self.assigns_or_talks(1) {
            return None;
        }
        let mut end = self.behind_braces(self.position + 1, word == "for")?;
        loop {
            let next = self.lower_at(end);
            if BRACED_GOES_ON.contains(&next.as_str()) {
                let Some(behind) = self.behind_braces(end + 1, false) else { return Some(end) };
                end = behind;
            } else if word == "do" && next == "while" && !self.begins_line(end) {
                return Some(self.line_end(end));
            } else {
                return Some(end);
            }
        }
    }

    /// The tokens from there on, as far as is looked.
    pub(super) fn ahead_of(&self, from: usize) -> impl Iterator<Item = usize> {
        (from..self.tokens.len().min(from + FARTHEST)).take_while(|_| self.may_look())
    }

    fn may_look(&self) -> bool {
        let left = self.looks_left.get();
        self.looks_left.set(left.saturating_sub(1));
        left > 0
    }

    /// The token behind the `}` that closes the first `{` from there on.
    fn behind_braces(&self, from: usize, may_divide: bool) -> Option<usize> {
        let (mut open, mut parentheses, mut is_divided) = (0, 0, false);
        for at in self.ahead_of(from) {
            match self.tokens[at].kind {
                TokenKind::Symbol(Symbol::LeftBrace) if is_divided && self.begins_line(at) => return None,
                // The attributes of a branch of CASE.
                TokenKind::Symbol(Symbol::LeftBrace)
                    if open == 0 && self.kind_at(at - 1) == Symbol::Colon.into() =>
                {
                    return None;
                }
                TokenKind::Symbol(Symbol::LeftBrace) => open += 1,
                TokenKind::Symbol(Symbol::RightBrace) if open == 0 => return None,
                TokenKind::Symbol(Symbol::RightBrace) if open == 1 => return Some(at + 1),
                TokenKind::Symbol(Symbol::RightBrace) => open -= 1,
                TokenKind::End => return None,
                TokenKind::Keyword(Keyword::End) if self.names_open_unit(at + 1) => return None,
                _ if open > 0 => {}
                TokenKind::Symbol(Symbol::LeftParenthesis) => parentheses += 1,
                TokenKind::Symbol(Symbol::RightParenthesis) => parentheses -= 1,
                TokenKind::Symbol(Symbol::Semicolon) if parentheses == 0 && !may_divide => return None,
                TokenKind::Symbol(Symbol::Semicolon) => is_divided |= parentheses == 0,
                TokenKind::Keyword(keyword) if !IN_EXPRESSIONS.contains(&keyword) => return None,
                _ if is_divided && self.begins_line(at) => return None,
                _ => {}
            }
        }
        None
    }

    fn end_of_line(&self) -> Option<usize> {
        let is_word = self.at(TokenKind::Name) && self.is_among(self.position, LINES);
        (is_word && !self.can_go_on(1) && !self.begins_line(self.position + 1))
            .then(|| self.line_end(self.position))
    }

    /// The token behind a statement that END, or another word for it, closes.
    fn end_of_block(&self) -> Option<usize> {
        let begins =
            self.at(Keyword::Do) || self.begins_block(self.position) && !self.at_case() && !self.at_select();
        begins.then(|| self.behind_end_of_block())?
    }

    pub(super) fn behind_end_of_block(&self) -> Option<usize> {
        let first = self.lower_at(self.position);
        let is_do = self.at(Keyword::Do);
        let (mut open, mut repeats) = (1, 0);
        let mut at = self.position + 1;
        while at < self.tokens.len().min(self.position + FARTHEST) && self.may_look() {
            match self.tokens[at].kind {
                TokenKind::End | TokenKind::Keyword(Keyword::Activity | Keyword::Finally) => return None,
                TokenKind::Keyword(keyword) if DECLARATIONS.contains(&keyword) => return None,
                TokenKind::Keyword(Keyword::End) if self.names_open_unit(at + 1) => return None,
                TokenKind::Keyword(Keyword::End) => {
                    open -= 1;
                    at += usize::from(self.repeats_opening(at + 1));
                    if open == 0 {
                        return Some(at + 1);
                    }
                }
                TokenKind::Keyword(Keyword::Repeat) => repeats += 1,
                TokenKind::Keyword(Keyword::Until) if repeats > 0 => repeats -= 1,
                TokenKind::Keyword(Keyword::Until) if is_do && open == 1 => return Some(self.line_end(at)),
                TokenKind::Keyword(Keyword::While)
                    if is_do && open == 1 && self.end_of_condition(at + 1) != Some(Keyword::Do.into()) =>
                {
                    return Some(self.line_end(at));
                }
                TokenKind::Keyword(
                    Keyword::If | Keyword::While | Keyword::For | Keyword::Foreach | Keyword::Begin,
                ) if self.lower_at(at - 1) != "exit" => open += 1,
                TokenKind::Name if is_do && open == 1 && self.lower_at(at) == "loop" => {
                    return Some(self.line_end(at));
                }
                TokenKind::Name if self.closes_in_one_word(at) => {
                    open -= 1;
                    if open == 0 {
                        return Some(self.line_end(at));
                    }
                }
                TokenKind::Name
                    if first != "select" && self.begins_statement(at) && self.begins_block(at) =>
                {
                    open += 1;
                }
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Whether another language's word for END stands here, and an END is missing.
    pub(super) fn at_foreign_end(&self) -> bool {
        let open = self.units.last().map_or(0, |unit| unit.open_structures);
        open > 0 && self.closes_in_one_word(self.position) && self.is_short_of_ends(open)
    }

    /// Whether fewer ENDs follow, up to the unit's own, than structures are open.
    fn is_short_of_ends(&self, open: u32) -> bool {
        let previous = self.tokens[self.position.saturating_sub(1)].kind;
        let separates = [Symbol::Semicolon, Symbol::RightBrace].map(TokenKind::from).contains(&previous);
        if !separates && !matches!(previous, TokenKind::Keyword(_)) {
            return true;
        }
        let (mut inner, mut closed) = (0, 0);
        for at in self.ahead_of(self.position + 1) {
            match self.tokens[at].kind {
                TokenKind::End | TokenKind::Keyword(Keyword::Activity | Keyword::Finally) => return true,
                TokenKind::Keyword(keyword) if DECLARATIONS.contains(&keyword) => return true,
                TokenKind::Keyword(Keyword::End) if self.names_open_unit(at + 1) => return true,
                TokenKind::Keyword(Keyword::End | Keyword::Until) if inner > 0 => inner -= 1,
                TokenKind::Keyword(Keyword::End | Keyword::Until) => closed += 1,
                TokenKind::Keyword(
                    Keyword::If
                    | Keyword::While
                    | Keyword::For
                    | Keyword::Foreach
                    | Keyword::Begin
                    | Keyword::Repeat,
                ) => inner += 1,
                TokenKind::Name if self.is_case_at(at) || self.is_select_at(at) => inner += 1,
                _ => {}
            }
            if closed == open {
                break;
            }
        }
        false
    }

    /// Skips that word.
    pub(super) fn foreign_end(&mut self) {
        let help = "a structure ends with END alone";
        let _: Parsed<()> = self.unexpected_with_help("`END`", help);
        self.lost_statements += 1;
        self.skip_on_line(|parser| parser.at(Symbol::Semicolon));
    }

    /// Skips to a token that `stops` accepts, or to the next line, which then needs no `;` before it.
    pub(super) fn skip_on_line(&mut self, stops: impl Fn(&Self) -> bool) {
        self.advance();
        self.skip_until(|parser| stops(parser) || parser.on_a_new_line() || parser.at(Keyword::End));
        self.reported_at = Some(self.position);
    }

    /// Skips IF in `END IF`, behind END.
    pub(super) fn repeated_opening(&mut self) {
        if self.repeats_opening(self.position) {
            let _: Parsed<()> = self.unexpected_with_help("`;`", "a structure ends with END alone");
            self.lost_statements += 1;
            self.skip_on_line(|_| true);
        }
    }

    /// Whether this word, behind END, names the statement that is closed, as in `END IF`.
    fn repeats_opening(&self, at: usize) -> bool {
        let word = self.lower_at(at);
        let is_word = BRACED.contains(&word.as_str()) || BLOCKS.contains(&word.as_str());
        is_word && !self.begins_line(at) && self.ends_statement(at + 1)
    }

    pub(super) fn closes_in_one_word(&self, at: usize) -> bool {
        let word = self.lower_at(at);
        let names_variable = word == "next" && self.ends_statement(at + 2) && !self.begins_line(at + 1);
        let is_name = |at| self.kind_at(at) == TokenKind::Name;
        is_name(at)
            && CLOSERS.contains(&word.as_str())
            && (self.ends_statement(at + 1) || names_variable && is_name(at + 1))
    }

    pub(super) fn begins_block(&self, at: usize) -> bool {
        let is_word = self.kind_at(at) == TokenKind::Name && self.is_among(at, BLOCKS);
        is_word && !self.can_go_on(at + 1 - self.position)
    }

    pub(super) fn begins_statement(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map_or(TokenKind::End, |before| self.kind_at(before));
        let separates =
            [Symbol::Semicolon, Symbol::Colon, Symbol::Bar].map(TokenKind::from).contains(&before)
                || [Keyword::Then, Keyword::Do, Keyword::Else, Keyword::Begin]
                    .map(TokenKind::from)
                    .contains(&before);
        separates || self.begins_line(at)
    }

    /// Whether the tokens there continue or end a statement of this language that began with a name.
    fn can_go_on(&self, ahead: usize) -> bool {
        let opens = [Symbol::LeftParenthesis, Symbol::LeftBracket].map(TokenKind::from);
        self.must_end_statement(self.position + ahead)
            || self.assigns_or_talks(ahead)
            || opens.contains(&self.kind_after(ahead))
    }

    fn assigns_or_talks(&self, ahead: usize) -> bool {
        let symbols =
            [Symbol::Assign, Symbol::Send, Symbol::Receive, Symbol::Period, Symbol::Equal, Symbol::Semicolon];
        symbols.map(TokenKind::from).contains(&self.kind_after(ahead))
    }

    fn ends_statement(&self, at: usize) -> bool {
        self.must_end_statement(at) || self.begins_line(at)
    }

    fn must_end_statement(&self, at: usize) -> bool {
        match self.kind_at(at) {
            TokenKind::Keyword(keyword) => CLAUSES.contains(&keyword) || DECLARATIONS.contains(&keyword),
            kind => {
                [Symbol::Semicolon, Symbol::Bar].map(TokenKind::from).contains(&kind)
                    || kind == TokenKind::End
            }
        }
    }

    fn names_open_unit(&self, at: usize) -> bool {
        let text = self.text_at(at);
        self.kind_at(at) == TokenKind::Name && self.units.iter().any(|unit| unit.name.text == text)
    }

    /// The first token there that begins another line, or ends a statement on this one.
    fn line_end(&self, from: usize) -> usize {
        let ends = |&at: &usize| {
            let kind = self.tokens[at].kind;
            let closes = kind == Keyword::End.into() || kind == TokenKind::End;
            closes || self.begins_line(at)
        };
        (from + 1..self.tokens.len()).find(ends).unwrap_or(self.tokens.len() - 1)
    }

    pub(super) fn begins_line(&self, at: usize) -> bool {
        let last = self.tokens.len() - 1;
        let (before, here) = (self.tokens[at.saturating_sub(1).min(last)], self.tokens[at.min(last)]);
        self.line_ends_between(before, here)
    }

    pub(super) fn kind_at(&self, at: usize) -> TokenKind {
        self.tokens[at.min(self.tokens.len() - 1)].kind
    }

    pub(super) fn text_at(&self, at: usize) -> &str {
        self.text_of(self.tokens[at.min(self.tokens.len() - 1)])
    }

    /// Whether a token is one of these words, in whatever case.
    pub(super) fn is_among(&self, at: usize, words: &[&str]) -> bool {
        words.iter().any(|word| self.text_at(at).eq_ignore_ascii_case(word))
    }

    /// The token there in small letters, if it may be a word that is known here.
    pub(super) fn lower_at(&self, at: usize) -> String {
        let text = self.text_at(at);
        if text.len() > LONGEST { String::new() } else { text.to_ascii_lowercase() }
    }
}
