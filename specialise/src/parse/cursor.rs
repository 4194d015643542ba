//! A position in the text, and the tokens that are expected there.

use super::lexer::{Lexer, Token};

/// Why the text was not understood.
#[derive(Clone, Debug)]
pub(super) struct Fail {
    /// Where in the text of the file.
    pub(super) at: usize,
    /// What about it.
    pub(super) what: String,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// It is not LLVM IR.
    Wrong,
    /// It is LLVM IR that [`crate::ir`] has no words for.
    Unsupported,
}

pub(super) type Parsed<T> = Result<T, Fail>;

/// Reads token after token, one of which is in hand.
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

    /// The token in hand.
    pub(super) fn token(&self) -> Token<'t> {
        self.token
    }

    /// Where it begins.
    pub(super) fn at(&self) -> usize {
        self.start
    }

    /// The token after the one in hand.
    pub(super) fn second(&self) -> Token<'t> {
        let mut lexer = self.lexer;
        lexer.next()
    }

    /// On to the next; gives the one that was in hand.
    pub(super) fn advance(&mut self) -> Token<'t> {
        let token = self.token;
        self.lexer.skip_blank();
        self.start = self.lexer.at();
        self.token = self.lexer.next();
        token
    }

    /// Goes over a sign if it is there.
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

    /// Goes over a word if it is there.
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

    /// Goes over all words that belong to a set.
    pub(super) fn skip_words(&mut self, set: &[&str]) {
        while let Token::Word(word) = self.token
            && set.contains(&word)
        {
            self.advance();
        }
    }

    /// Any word.
    pub(super) fn word(&mut self) -> Parsed<&'t str> {
        let Token::Word(word) = self.token else { return Err(self.wrong("a word is expected")) };
        self.advance();
        Ok(word)
    }

    /// A number that is not negative.
    pub(super) fn number<N: std::str::FromStr>(&mut self) -> Parsed<N> {
        let number = match self.token {
            Token::Number(digits) => digits.parse().ok(),
            _ => None,
        };
        let number = number.ok_or_else(|| self.wrong("a number is expected"))?;
        self.advance();
        Ok(number)
    }

    /// Goes over a number in parentheses or without them: `align 8`, `align(8)`.
    pub(super) fn number_in_parentheses(&mut self) -> Parsed<u64> {
        let open = self.take('(');
        let number = self.number()?;
        if open {
            self.expect(')')?;
        }
        Ok(number)
    }

    /// What an address is a multiple of, behind the word `align`.
    pub(super) fn alignment(&mut self) -> Parsed<u64> {
        let at = *self;
        let align = self.number_in_parentheses()?;
        if align.is_power_of_two() && align <= 1 << 32 {
            Ok(align)
        } else {
            Err(at.wrong("an alignment is a power of two"))
        }
    }

    /// Goes over brackets and all that is in them, if one opens here.
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
