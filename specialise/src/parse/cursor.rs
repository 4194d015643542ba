//! A position in the text, and functions for the tokens expected there.

use super::lexer::{Lexer, Token};

/// The reason why the text was not understood.
#[derive(Clone, Debug)]
pub(super) struct Fail {
    /// The place in the text of the file.
    pub(super) at: usize,
    /// The error.
    pub(super) what: String,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// It is not LLVM IR.
    Wrong,
    /// It is LLVM IR that [`crate::ir`] can't express.
    Unsupported,
}

pub(super) type Parsed<T> = Result<T, Fail>;

/// Reads token by token, with one token of look-ahead.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'t> {
    lexer: Lexer<'t>,
    token: Token<'t>,
    start: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str, at: usize) -> Self {
        let mut cursor = Cursor { lexer: Lexer::new(text, at), token: Token::End, start: at };
        cursor.advance();
        cursor
    }

    /// The current token.
    pub(super) fn token(&self) -> Token<'t> {
        self.token
    }

    /// The place where the current token begins.
    pub(super) fn at(&self) -> usize {
        self.start
    }

    /// The token after the current one.
    pub(super) fn second(&self) -> Token<'t> {
        let mut lexer = self.lexer;
        lexer.next()
    }

    /// Advances to the next token, and gives the current one.
    pub(super) fn advance(&mut self) -> Token<'t> {
        let token = self.token;
        self.lexer.skip_blank();
        self.start = self.lexer.at();
        self.token = self.lexer.next();
        token
    }

    /// Skips a mark if it is the current token, and tells whether it was.
    pub(super) fn take(&mut self, mark: char) -> bool {
        let found = self.token == Token::Mark(mark);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect(&mut self, mark: char) -> Parsed<()> {
        if self.take(mark) { Ok(()) } else { Err(self.wrong(format!("`{mark}` is expected"))) }
    }

    /// Skips a word if it is the current token, and tells whether it was.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.token == Token::Word(word);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.take_word(word) { Ok(()) } else { Err(self.wrong(format!("`{word}` is expected"))) }
    }

    /// Skips all words that belong to a set.
    pub(super) fn skip_words(&mut self, set: &[&str]) {
        while let Token::Word(word) = self.token
            && set.contains(&word)
        {
            self.advance();
        }
    }

    /// Reads any word.
    pub(super) fn word(&mut self) -> Parsed<&'t str> {
        let Token::Word(word) = self.token else { return Err(self.wrong("a word is expected")) };
        self.advance();
        Ok(word)
    }

    /// Reads a number that is not negative.
    pub(super) fn number<N: std::str::FromStr>(&mut self) -> Parsed<N> {
        let number = match self.token {
            Token::Number(digits) => digits.parse().ok(),
            _ => None,
        };
        let number = number.ok_or_else(|| self.wrong("a number is expected"))?;
        self.advance();
        Ok(number)
    }

    /// Reads a number with or without parentheses: `align 8`, `align(8)`.
    pub(super) fn number_in_parentheses(&mut self) -> Parsed<u64> {
        let open = self.take('(');
        let number = self.number()?;
        if open {
            self.expect(')')?;
        }
        Ok(number)
    }

    /// Reads an alignment, after the word `align`.
    pub(super) fn alignment(&mut self) -> Parsed<u64> {
        let at = *self;
        let align = self.number_in_parentheses()?;
        if align.is_power_of_two() && align <= 1 << 32 {
            Ok(align)
        } else {
            Err(at.wrong("an alignment is a power of two"))
        }
    }

    /// Skips brackets and their contents, if the current token opens one.
    pub(super) fn skip_brackets(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.token {
                Token::Mark('(' | '[' | '{') => depth += 1,
                Token::Mark(')' | ']' | '}') if depth > 0 => depth -= 1,
                Token::End => return,
                _ if depth == 0 => return,
                _ => {}
            }
            self.advance();
            if depth == 0 {
                return;
            }
        }
    }

    pub(super) fn wrong(&self, what: impl Into<String>) -> Fail {
        Fail { at: self.start, what: what.into(), kind: Kind::Wrong }
    }

    pub(super) fn unsupported(&self, what: impl Into<String>) -> Fail {
        Fail { at: self.start, what: what.into(), kind: Kind::Unsupported }
    }
}
