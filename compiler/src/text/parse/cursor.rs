//! A place in a line, and the small things that are read there. Blanks before them are skipped.

use std::str::FromStr;

use super::Read;
use crate::mir::{BlockId, Reg};

/// Registers and blocks have smaller numbers, and so has what is in tables: a wrong number takes no memory.
const MOST: u32 = 1 << 20;

#[derive(Clone)]
pub struct Cursor<'t> {
    rest: &'t str,
}

impl<'t> Cursor<'t> {
    pub fn new(line: &'t str) -> Self {
        Cursor { rest: line.trim() }
    }

    /// What follows, if it begins with this. A word must end there.
    fn after(&self, what: &str) -> Option<&'t str> {
        let rest = self.rest.trim_start().strip_prefix(what)?;
        let ends = !what.ends_with(char::is_alphanumeric) || !rest.starts_with(is_in_word);
        ends.then_some(rest)
    }

    pub fn is_next(&self, what: &str) -> bool {
        self.after(what).is_some()
    }

    /// Goes past this, if it comes next.
    pub fn eat(&mut self, what: &str) -> bool {
        let after = self.after(what);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    pub fn expect(&mut self, what: &str) -> Read<()> {
        if self.eat(what) { Ok(()) } else { Err(format!("{what:?} is expected{}", self.here())) }
    }

    /// Where something is wrong.
    pub fn here(&self) -> String {
        match self.rest.trim_start() {
            "" => " at the end".to_string(),
            rest => format!(" before {rest:?}"),
        }
    }

    pub fn is_at_end(&self) -> bool {
        self.rest.trim_start().is_empty()
    }

    pub fn end(&self) -> Read<()> {
        if self.is_at_end() { Ok(()) } else { Err(format!("nothing is expected{}", self.here())) }
    }

    /// All that is left.
    pub fn remainder(&mut self) -> &'t str {
        std::mem::take(&mut self.rest).trim()
    }

    /// What stands before the last of these, which is passed.
    pub fn until_last(&mut self, what: &str) -> Read<&'t str> {
        let (before, after) =
            self.rest.rsplit_once(what).ok_or_else(|| format!("{what:?} is expected{}", self.here()))?;
        self.rest = after;
        Ok(before.trim())
    }

    /// A name, a keyword, or a number without a sign.
    pub fn word(&mut self) -> Read<&'t str> {
        let rest = self.rest.trim_start();
        let length = rest.find(|it| !is_in_word(it)).unwrap_or(rest.len());
        if length == 0 {
            return Err(format!("a name is expected{}", self.here()));
        }
        let (word, after) = rest.split_at(length);
        self.rest = after;
        Ok(word)
    }

    /// The next word, if one comes next; it stays.
    pub fn peek(&self) -> &'t str {
        self.clone().word().unwrap_or_default()
    }

    pub fn number<N: FromStr>(&mut self) -> Read<N> {
        let rest = self.rest.trim_start();
        let signed = rest.strip_prefix(['-', '+']).unwrap_or(rest);
        let digits = signed.find(|it: char| !it.is_ascii_digit()).unwrap_or(signed.len());
        let (number, after) = rest.split_at(rest.len() - signed.len() + digits);
        let number = number.parse().map_err(|_| format!("a number that fits is expected{}", self.here()))?;
        self.rest = after;
        Ok(number)
    }

    /// `0x` and digits.
    pub fn hexadecimal(&mut self) -> Read<u64> {
        let word = self.word()?;
        let digits = word.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        digits.ok_or_else(|| format!("{word:?} is no hexadecimal number"))
    }

    /// Whether a letter with a number comes next.
    pub fn is_numbered(&self, letter: &str) -> bool {
        let number = self.rest.trim_start().strip_prefix(letter);
        number.is_some_and(|number| number.starts_with(|it: char| it.is_ascii_digit()))
    }

    pub fn reg(&mut self) -> Read<Reg> {
        self.numbered("r").map(Reg)
    }

    pub fn block(&mut self) -> Read<BlockId> {
        self.numbered("b").map(BlockId)
    }

    fn numbered(&mut self, letter: &str) -> Read<u32> {
        if !self.is_numbered(letter) {
            return Err(format!("{letter} with a number is expected{}", self.here()));
        }
        self.rest = &self.rest.trim_start()[letter.len()..];
        match self.number()? {
            number if number < MOST => Ok(number),
            number => Err(format!("{letter}{number} is one too many")),
        }
    }

    /// One or several, with commas between them.
    pub fn list(&mut self, mut one: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        one(self)?;
        while self.eat(",") {
            one(self)?;
        }
        Ok(())
    }

    /// None or several, with commas between them, and what stands behind them.
    pub fn list_until(&mut self, end: &str, one: impl FnMut(&mut Self) -> Read<()>) -> Read<()> {
        if self.eat(end) {
            return Ok(());
        }
        self.list(one)?;
        self.expect(end)
    }

    /// A text in quotes: its bytes.
    pub fn literal(&mut self) -> Read<Vec<u8>> {
        self.expect("\"")?;
        let mut bytes = Vec::new();
        let mut characters = self.rest.chars();
        loop {
            match characters.next().ok_or("a text does not end")? {
                '"' => break,
                '\\' => escaped(&mut characters, &mut bytes).ok_or("a text has a bad escape")?,
                other => push(&mut bytes, other),
            }
        }
        self.rest = characters.as_str();
        Ok(bytes)
    }
}

/// Reads what stands behind a `\`.
fn escaped(characters: &mut std::str::Chars, bytes: &mut Vec<u8>) -> Option<()> {
    match characters.next()? {
        'n' => bytes.push(b'\n'),
        'r' => bytes.push(b'\r'),
        't' => bytes.push(b'\t'),
        '0' => bytes.push(0),
        'x' => {
            let mut digit = || characters.next()?.to_digit(16);
            bytes.push((digit()? * 16 + digit()?) as u8);
        }
        'u' => {
            let (digits, after) = characters.as_str().strip_prefix('{')?.split_once('}')?;
            *characters = after.chars();
            push(bytes, char::from_u32(u32::from_str_radix(digits, 16).ok()?)?);
        }
        itself => push(bytes, itself),
    }
    Some(())
}

fn push(bytes: &mut Vec<u8>, character: char) {
    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
}

fn is_in_word(character: char) -> bool {
    character.is_alphanumeric() || "_.#$".contains(character)
}
