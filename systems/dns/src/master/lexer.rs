//! The lexer of master files (RFC 1035, section 5.1): entries of tokens. A file is bytes: comments and texts may be in
//! any encoding.

use domain::base::scan::Symbol;

/// A word as it stands in the file, with its escapes.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    /// Without its quotes.
    pub raw: &'a [u8],
    /// Whether it was quoted.
    pub is_quoted: bool,
    /// Whether it follows the previous token without a space.
    pub is_joined: bool,
}

/// The tokens of a line, or of several lines in brackets.
#[derive(Debug, Default)]
pub struct Entry<'a> {
    /// The line of its first token, from 1.
    pub line: usize,
    /// Whether it begins with a space, so that it has no owner of its own.
    pub is_indented: bool,
    /// At least one token.
    pub tokens: Vec<Token<'a>>,
}

/// See the head of this file.
#[derive(Debug)]
pub struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Lexer<'a> {
    /// A lexer of a file's bytes.
    pub fn new(text: &'a [u8]) -> Lexer<'a> {
        Lexer { text, at: 0, line: 1 }
    }

    /// The current line, for messages.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Reads the next entry that isn't empty; returns whether there is one.
    ///
    /// # Errors
    /// A syntax error at [`Lexer::line`].
    pub fn next(&mut self, entry: &mut Entry<'a>) -> Result<bool, String> {
        entry.tokens.clear();
        let (mut depth, mut begin) = (0usize, self.at);
        entry.is_indented = false;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\n' => {
                    self.at += 1;
                    self.line += 1;
                    if depth == 0 && !entry.tokens.is_empty() {
                        return Ok(true);
                    }
                    if depth == 0 {
                        begin = self.at;
                    }
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b';' => {
                    self.at += self.rest().iter().position(|byte| *byte == b'\n').unwrap_or(self.rest().len())
                }
                b'(' => {
                    depth += 1;
                    self.at += 1;
                }
                b')' => {
                    depth = depth.checked_sub(1).ok_or("a bracket is closed that isn't open")?;
                    self.at += 1;
                }
                _ => {
                    if entry.tokens.is_empty() {
                        entry.line = self.line;
                        entry.is_indented = self.at > begin && matches!(self.text[begin], b' ' | b'\t');
                    }
                    let before = self.at;
                    let token = self.token()?;
                    let is_joined = before > begin && is_end_of_word(self.text[before - 1]);
                    entry.tokens.push(Token { is_joined, ..token });
                }
            }
        }
        match depth {
            0 => Ok(!entry.tokens.is_empty()),
            _ => Err("the file ends within brackets".into()),
        }
    }

    fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    fn token(&mut self) -> Result<Token<'a>, String> {
        let is_quoted = self.text[self.at] == b'"';
        let begin = self.at + usize::from(is_quoted);
        self.at = begin;
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'"' if is_quoted => break,
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'(' | b')' | b'"' if !is_quoted => break,
                b'\\' => self.at += 1,
                _ => {}
            }
            self.line += usize::from(self.text.get(self.at) == Some(&b'\n'));
            self.at += 1;
        }
        if self.at > self.text.len() {
            return Err("the file ends behind a `\\`".into());
        }
        let raw = &self.text[begin..self.at];
        if is_quoted {
            if self.at == self.text.len() {
                return Err("the file ends within quotes".into());
            }
            self.at += 1;
        }
        Ok(Token { raw, is_quoted, is_joined: false })
    }
}

/// Whether a token may follow this byte directly.
fn is_end_of_word(byte: u8) -> bool {
    !matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'(' | b')')
}

impl<'a> Token<'a> {
    /// Its symbols. Bytes beyond ASCII count as escaped, because the file's encoding isn't known.
    ///
    /// # Errors
    /// An escape's number is no byte, or the escape is incomplete.
    pub fn symbols(self) -> impl Iterator<Item = Result<Symbol, String>> + 'a {
        let mut rest = self.raw;
        std::iter::from_fn(move || {
            let (&first, more) = rest.split_first()?;
            let (symbol, used) = match (first, more) {
                (b'\\', [high @ b'0'..=b'9', digits @ ..]) => {
                    let digits =
                        digits.first_chunk::<2>().filter(|digits| digits.iter().all(u8::is_ascii_digit));
                    let number = digits.map(|[middle, low]| {
                        u32::from(high - b'0') * 100 + u32::from(middle - b'0') * 10 + u32::from(low - b'0')
                    });
                    (number.and_then(|number| u8::try_from(number).ok()).map(Symbol::DecimalEscape), 4)
                }
                (b'\\', [escaped @ b' '..=b'~', ..]) => (Some(Symbol::SimpleEscape(*escaped)), 2),
                (b'\\', [escaped, ..]) => (Some(Symbol::DecimalEscape(*escaped)), 2),
                (b'\\', []) => (None, 1),
                (b' '..=b'~', _) => (Some(Symbol::Char(char::from(first))), 1),
                _ => (Some(Symbol::DecimalEscape(first)), 1),
            };
            rest = rest.get(used..).unwrap_or_default();
            Some(
                symbol.ok_or_else(|| "an escape is `\\` and three digits, up to 255, or another sign".into()),
            )
        })
    }

    /// Its bytes, with escapes replaced.
    ///
    /// # Errors
    /// An escape is wrong.
    pub fn bytes(self) -> Result<Vec<u8>, String> {
        if !self.raw.contains(&b'\\') {
            return Ok(self.raw.to_vec());
        }
        self.symbols().map(|symbol| symbol.map(byte_of)).collect()
    }

    /// Its text if it is ASCII without escapes, such as a number or a type.
    pub fn word(self) -> &'a str {
        std::str::from_utf8(self.raw).unwrap_or_default()
    }
}

/// The byte that a symbol of [`Token::symbols`] stands for.
pub fn byte_of(symbol: Symbol) -> u8 {
    match symbol {
        Symbol::Char(letter) => letter as u8,
        Symbol::SimpleEscape(byte) | Symbol::DecimalEscape(byte) => byte,
    }
}
