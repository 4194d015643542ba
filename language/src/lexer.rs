//! Splits text into tokens. Never fails: text that is no token becomes a diagnostic, and a token with which the parser
//! can go on. Comments are given apart, for the formatter. Knows nothing of the grammar.

mod number;
mod token;

pub(crate) use number::too_large;
pub use token::{Keyword, Symbol, Token, TokenKind};

use crate::source::{Diagnostic, Span};

/// The tokens, comments and errors of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Lexed {
    /// In order; the last is always `TokenKind::End`.
    pub tokens: Vec<Token>,
    /// Comments with their delimiters, in order.
    pub comments: Vec<Span>,
    /// What was wrong, in order.
    pub diagnostics: Vec<Diagnostic>,
}

/// Splits the text of file number `file` into tokens.
pub fn lex(file: u32, text: &str) -> Lexed {
    let lexed = Lexed { tokens: Vec::new(), comments: Vec::new(), diagnostics: Vec::new() };
    let mut lexer = Lexer { file, text, position: 0, lexed };
    lexer.run();
    lexer.lexed
}

/// The bytes that a string literal (with its quotes) stands for. Bad escapes stand for themselves.
pub fn string_bytes(literal: &str) -> Vec<u8> {
    if let Some(foreign) = literal.strip_prefix('\'') {
        return foreign.strip_suffix('\'').unwrap_or(foreign).as_bytes().to_vec();
    }
    let inner = literal.strip_prefix('"').unwrap_or(literal);
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' => break,
            b'\\' => {
                if let Some(code) = hexadecimal(rest) {
                    bytes.push(code);
                    rest = &rest[HEXADECIMAL..];
                } else if let Some((&escaped, after)) = rest.split_first() {
                    bytes.push(unescape(escaped).unwrap_or(escaped));
                    rest = after;
                }
            }
            _ => bytes.push(byte),
        }
    }
    bytes
}

/// The length of `xHH`.
const HEXADECIMAL: usize = 3;

/// The byte that `\` and this text stand for, if it begins with `xHH`.
fn hexadecimal(text: &[u8]) -> Option<u8> {
    let [b'x', high, low, ..] = *text else { return None };
    let [high, low] = [high, low].map(|digit| (digit as char).to_digit(16));
    Some((high? * 16 + low?) as u8)
}

/// The byte that `\` and this one stand for.
fn unescape(escaped: u8) -> Option<u8> {
    Some(match escaped {
        b'0' => 0,
        b'b' => 8,
        b't' => b'\t',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        b'n' => b'\n',
        b'\\' | b'"' | b'\'' => escaped,
        _ => return None,
    })
}

struct Lexer<'a> {
    file: u32,
    text: &'a str,
    position: usize,
    lexed: Lexed,
}

impl Lexer<'_> {
    fn run(&mut self) {
        if self.text.starts_with('\u{feff}') {
            self.position = '\u{feff}'.len_utf8();
        }
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | 0x0c => self.position += 1,
                b'(' if self.peek(1) == Some(b'*') => self.comment(),
                b'"' => self.string(),
                b'\'' if self.foreign_string() => {}
                b'0'..=b'9' => self.number(),
                byte if byte.is_ascii_alphabetic() || self.at_foreign_letter() => self.word(),
                _ => self.symbol(),
            }
        }
        self.push(TokenKind::End, self.position);
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.position + ahead).copied()
    }

    fn span(&self, start: usize) -> Span {
        Span { file: self.file, start: start as u32, end: self.position as u32 }
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        let span = self.span(start);
        self.lexed.tokens.push(Token { kind, span });
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.lexed.diagnostics.push(diagnostic);
    }

    fn skip_while(&mut self, belongs: impl Fn(u8) -> bool) {
        while self.peek(0).is_some_and(&belongs) {
            self.position += 1;
        }
    }

    fn word(&mut self) {
        let start = self.position;
        self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if self.at_foreign_letter() {
            let rest = self.text[self.position..].chars();
            let belongs = |&letter: &char| letter.is_alphanumeric() || letter == '_';
            self.position += rest.take_while(belongs).map(char::len_utf8).sum::<usize>();
            let message = format!("`{}` is no name", &self.text[start..self.position]);
            let error = Diagnostic::new("bad-character", self.span(start), message);
            self.report(error.help("names are of ASCII letters, digits and `_`"));
        }
        let kind = Keyword::from_text(&self.text[start..self.position]);
        self.push(kind.map_or(TokenKind::Name, TokenKind::Keyword), start);
    }

    fn at_foreign_letter(&self) -> bool {
        let next = self.text[self.position..].chars().next();
        next.is_some_and(|letter| !letter.is_ascii() && letter.is_alphabetic())
    }

    fn number(&mut self) {
        let start = self.position;
        let number = number::scan(&self.text[start..]);
        self.position += number.length;
        if let Some(fault) = number.fault {
            self.report(Diagnostic { span: self.span(start), ..fault });
        }
        self.push(number.kind, start);
    }

    fn string(&mut self) {
        let start = self.position;
        self.position += 1;
        let ends = loop {
            match self.peek(0) {
                Some(b'"') => {
                    self.position += 1;
                    break true;
                }
                None | Some(b'\n') => {
                    let diagnostic =
                        Diagnostic::new("unterminated-string", self.span(start), "this string does not end")
                            .help("close it with `\"` on the same line; a line end within a string is `\\n`");
                    self.report(diagnostic);
                    break false;
                }
                Some(b'\\') => self.escape(),
                Some(_) => self.position += 1,
            }
        };
        self.push(TokenKind::String, start);
        if !ends {
            self.push(TokenKind::Bad, self.position);
        }
    }

    /// Reads a text in single quotes, if there is one: other languages write texts so. It gives one error, and a string
    /// token.
    fn foreign_string(&mut self) -> bool {
        let start = self.position;
        let line = self.text[start..].split('\n').next().unwrap_or_default();
        // Some languages double a quote within a text.
        let mut end = 1;
        loop {
            let Some(inner) = line[end..].find('\'') else { return false };
            end += inner + 1;
            if !line[end..].starts_with('\'') {
                break;
            }
            end += 1;
        }
        self.position += end;
        let found = &self.text[start..self.position];
        let meant = found[1..found.len() - 1].replace("''", "'").replace('"', "\\\"");
        let message = "characters and texts stand in double quotes";
        self.report(
            Diagnostic::new("bad-character", self.span(start), message).help(format!("write \"{meant}\"")),
        );
        self.push(TokenKind::String, start);
        true
    }

    fn escape(&mut self) {
        let start = self.position;
        self.position += 1;
        let Some(escaped) = self.text[self.position..].chars().next().filter(|&escaped| escaped != '\n')
        else {
            return;
        };
        if hexadecimal(&self.text.as_bytes()[self.position..]).is_some() {
            self.position += HEXADECIMAL;
            return;
        }
        self.position += escaped.len_utf8();
        if !u8::try_from(escaped).is_ok_and(|byte| unescape(byte).is_some()) {
            let message = format!("a string has no escape `\\{}`", escaped.escape_debug());
            let diagnostic = Diagnostic::new("bad-escape", self.span(start), message).help(
                r#"the escapes are \0 \b \t \v \f \r \n \\ \" \' and \xHH, a byte by two hexadecimal digits"#,
            );
            self.report(diagnostic);
        }
    }

    fn comment(&mut self) {
        let start = self.position;
        let mut depth = 0;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(b'('), Some(b'*')) => {
                    depth += 1;
                    self.position += 2;
                }
                (Some(b'*'), Some(b')')) => {
                    depth -= 1;
                    self.position += 2;
                    if depth == 0 {
                        break;
                    }
                }
                (Some(_), _) => self.position += 1,
                (None, _) => {
                    let opening = Span { end: start as u32 + 2, ..self.span(start) };
                    let diagnostic =
                        Diagnostic::new("unterminated-comment", opening, "this comment does not end")
                            .help("comments nest: every `(*` needs a `*)` of its own");
                    self.report(diagnostic);
                    self.push(TokenKind::Bad, self.position);
                    break;
                }
            }
        }
        let span = self.span(start);
        self.lexed.comments.push(span);
    }

    /// Whether the text from there to here stands where an operator would.
    fn stands_between_values(&self, start: usize) -> bool {
        let ends = |last: char| last.is_ascii_alphanumeric() || matches!(last, ')' | ']' | '_');
        let begins = |first: char| first.is_ascii_alphanumeric() || first == '(';
        self.text[..start].trim_end().ends_with(ends)
            && self.text[self.position..].trim_start_matches([' ', '\t']).starts_with(begins)
    }

    fn symbol(&mut self) {
        let start = self.position;
        if let Some(symbol) = Symbol::at_start_of(&self.text[start..]) {
            self.position += symbol.text().len();
            self.push(TokenKind::Symbol(symbol), start);
            return;
        }
        let rest = self.text[start..].chars();
        self.position += rest.take_while(|&other| is_foreign(other)).map(char::len_utf8).sum::<usize>();
        let found: String = self.text[start..self.position].chars().map(spelled).collect();
        let message = format!("`{found}` means nothing outside strings and comments");
        let error = Diagnostic::new("bad-character", self.span(start), message);
        self.report(match instead_of(&self.text[start..self.position], self.stands_between_values(start)) {
            Some(help) => error.help(help),
            None => error,
        });
        self.push(TokenKind::Bad, start);
    }
}

/// Help for signs of other languages: what to write instead.
fn instead_of(foreign: &str, is_between_values: bool) -> Option<&'static str> {
    Some(match foreign.chars().next()? {
        '&' if foreign == "&" => {
            "write AND between conditions, + between texts; for bits there are DIV and MOD"
        }
        '^' if is_between_values => {
            "there are no powers and no operations on bits: write x * x, or DIV and MOD"
        }
        '\'' | '`' | '\u{2018}'..='\u{201f}' => "characters and texts stand in double quotes: \"a\"",
        '&' => "write AND",
        '%' => "the remainder is written MOD",
        '^' | '@' => {
            "there are no references: a component is in one variable, a procedure changes VARIABLE parameters"
        }
        '\u{2260}' => "\"not equal\" is written `#`",
        '\u{2264}' => "\"less or equal\" is written `<=`",
        '\u{2265}' => "\"greater or equal\" is written `>=`",
        _ => return None,
    })
}

/// A character as messages show it: a quote needs no escape.
fn spelled(character: char) -> String {
    if character == '\'' { "'".into() } else { character.escape_debug().to_string() }
}

/// Whether no token begins with this character, and it is no white space either.
fn is_foreign(character: char) -> bool {
    let mut buffer = [0; 4];
    let text = &*character.encode_utf8(&mut buffer);
    !character.is_ascii_alphanumeric()
        && !matches!(character, ' ' | '\t' | '\r' | '\n' | '\x0c' | '"')
        && Symbol::at_start_of(text).is_none()
}
