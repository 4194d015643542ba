//! LLVM's tokens. Names keep the spelling of the text, including quotes; [`plain`] and [`bytes`] decode it.

use std::borrow::Cow;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token<'t> {
    End,
    /// A keyword, a type, or the name of an instruction.
    Word(&'t str),
    /// A name followed by a colon.
    Label(&'t str),
    /// `%name`
    Local(&'t str),
    /// `@name`
    Global(&'t str),
    /// `$name`
    Comdat(&'t str),
    /// A number that has not been converted.
    Number(&'t str),
    /// `"..."`, without its quotes.
    Text(&'t str),
    /// `c"..."`, without its quotes.
    Bytes(&'t str),
    /// `#1`
    Group(u32),
    /// `#dbg_...`
    Record,
    /// `!name`, `!1`, or the mark alone.
    Metadata(&'t str),
    /// `...`
    Ellipsis,
    /// Any other mark.
    Mark(char),
}

/// Splits a text into tokens.
#[derive(Clone, Copy)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str, at: usize) -> Self {
        Lexer { text, at }
    }

    /// The place from which the next token is searched.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Skips white space and comments.
    pub(super) fn skip_blank(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                b';' => self.at = line_end(self.text, self.at),
                _ => break,
            }
        }
    }

    pub(super) fn next(&mut self) -> Token<'t> {
        self.skip_blank();
        let start = self.at;
        let Some(&first) = self.text.as_bytes().get(start) else { return Token::End };
        self.at += 1;
        match first {
            b'%' => Token::Local(self.name()),
            b'@' => Token::Global(self.name()),
            b'$' => Token::Comdat(self.name()),
            b'!' => Token::Metadata(self.run(|byte| is_word(byte) || byte == b'\\')),
            b'#' => match self.run(is_word) {
                number if number.bytes().all(|byte| byte.is_ascii_digit()) => {
                    number.parse().map_or(Token::Mark('#'), Token::Group)
                }
                _ => Token::Record,
            },
            b'"' => self.quoted(start, Token::Text),
            b'c' if self.byte() == Some(b'"') => {
                self.at += 1;
                self.quoted(start + 1, Token::Bytes)
            }
            b'.' if self.text[start..].starts_with("...") => {
                self.at += 2;
                Token::Ellipsis
            }
            b'-' | b'0'..=b'9' => {
                self.run(|byte| is_word(byte) || byte == b'+');
                self.word(start, Token::Number)
            }
            byte if is_word(byte) => {
                self.run(is_word);
                self.word(start, Token::Word)
            }
            _ => {
                let mark = self.text[start..].chars().next().unwrap_or('\0');
                self.at = start + mark.len_utf8();
                Token::Mark(mark)
            }
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn run(&mut self, belongs: impl Fn(u8) -> bool) -> &'t str {
        let start = self.at;
        while self.byte().is_some_and(&belongs) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn word(&mut self, start: usize, token: fn(&'t str) -> Token<'t>) -> Token<'t> {
        let word = &self.text[start..self.at];
        if self.byte() != Some(b':') {
            return token(word);
        }
        self.at += 1;
        Token::Label(word)
    }

    fn name(&mut self) -> &'t str {
        let start = self.at;
        if self.byte() == Some(b'"') {
            self.at = quote_end(self.text, start + 1);
            &self.text[start..self.at]
        } else {
            self.run(is_word)
        }
    }

    fn quoted(&mut self, quote: usize, token: fn(&'t str) -> Token<'t>) -> Token<'t> {
        self.at = quote_end(self.text, quote + 1);
        let whole = &self.text[quote..self.at];
        if self.byte() == Some(b':') {
            self.at += 1;
            return Token::Label(whole);
        }
        token(unquoted(whole))
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'$' | b'.' | b'_')
}

/// The text between quotes. The closing quote may be missing at the end of a text.
fn unquoted(whole: &str) -> &str {
    let inner = &whole[1..];
    inner.strip_suffix('"').unwrap_or(inner)
}

/// The place after the closing quote of a string whose content begins at `from`.
fn quote_end(text: &str, from: usize) -> usize {
    text[from..].find('"').map_or(text.len(), |length| from + length + 1)
}

fn line_end(text: &str, from: usize) -> usize {
    text[from..].find('\n').map_or(text.len(), |length| from + length)
}

/// The place after the top-level statement that begins at `from`: its end is the first line end outside all brackets.
pub(super) fn statement_end(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (from, 0usize);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = quote_end(text, at + 1);
                continue;
            }
            b';' => {
                at = line_end(text, at);
                continue;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'\n' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

/// A name without quotes and escapes. A mark that keeps compilers from decorating a name has no effect on Linux, and is
/// removed.
pub(super) fn plain(spelling: &str) -> Cow<'_, str> {
    if !spelling.starts_with('"') {
        return Cow::Borrowed(spelling);
    }
    let inner = unquoted(spelling);
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let inner = inner.strip_prefix("\\01").unwrap_or(inner);
    match String::from_utf8(bytes(inner)) {
        Ok(name) => Cow::Owned(name),
        Err(_) => Cow::Borrowed(inner),
    }
}

/// The bytes that a string's content denotes: `\5C` is one byte.
pub(super) fn bytes(inner: &str) -> Vec<u8> {
    let mut found = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            found.push(byte);
            continue;
        }
        match after {
            [b'\\', after @ ..] => {
                found.push(b'\\');
                rest = after;
            }
            [high, low, after @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                found.push(hex(*high) << 4 | hex(*low));
                rest = after;
            }
            _ => found.push(b'\\'),
        }
    }
    found
}

fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}
