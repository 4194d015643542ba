//! Words and signs of other languages: what to write instead. Asked only where something could not be read.

use super::Parser;
use crate::lexer::{Keyword, Symbol, Token, TokenKind};

/// Two tokens side by side that are one sign elsewhere.
const SIGNS: &[(&str, &str)] = &[
    ("==", "a comparison is written `=`"),
    ("!=", "\"not equal\" is written `#`"),
    ("<>", "\"not equal\" is written `#`"),
    ("+=", "write INC(x, n), or x := x + n"),
    ("-=", "write DEC(x, n), or x := x - n"),
    ("*=", "write x := x * n"),
    ("/=", "write x := x / n, or x := x DIV n for INTEGER; \"not equal\" is written `#`"),
    ("++", "write INC(x)"),
    ("--", "write DEC(x); a comment is (* .. *)"),
    ("||", "write OR"),
    ("//", "a comment is (* .. *); division of INTEGER is written DIV"),
    ("/*", "a comment is (* .. *)"),
    ("**", "there is no operator for powers"),
    ("->", "there are no references: what holds a component talks to it, x!Message"),
    ("=>", "\"greater or equal\" is written `>=`"),
    ("=<", "\"less or equal\" is written `<=`"),
    (":-", "an assignment is written `:=`"),
];

/// Words that elsewhere begin or join what has another word here.
const WORDS: &[(&str, &str)] = &[
    ("elif", "write ELSIF"),
    ("elseif", "write ELSIF"),
    ("elsif", "write ELSIF"),
    ("not", "write ~, for instance ~(a = b)"),
    ("def", "write PROCEDURE Name(x: INTEGER); BEGIN .. END Name"),
    ("func", "write PROCEDURE Name(x: INTEGER); BEGIN .. END Name"),
    ("function", "write PROCEDURE Name(x: INTEGER): Type; BEGIN .. END Name"),
    ("fn", "write PROCEDURE Name(x: INTEGER); BEGIN .. END Name"),
    ("fun", "write PROCEDURE Name(x: INTEGER); BEGIN .. END Name"),
    ("sub", "write PROCEDURE Name(x: INTEGER); BEGIN .. END Name"),
    ("method", "write PROCEDURE Name(x: INTEGER); BEGIN .. END Name"),
    ("void", "write PROCEDURE Name(x: INTEGER); BEGIN .. END Name"),
    ("var", "write VARIABLE x: Type; before BEGIN"),
    ("let", "write VARIABLE x: Type; before BEGIN"),
    ("int", "write VARIABLE x: INTEGER; before BEGIN"),
    ("const", "write CONSTANT Name = value; before BEGIN"),
    ("class", "write COMPONENT Name; .. END Name;"),
    ("struct", "write COMPONENT Name; .. END Name;"),
    ("program", "write COMPONENT Name; .. END Name;"),
    ("module", "write COMPONENT Name; .. END Name; a file that others IMPORT has no heading"),
    ("package", "a file has no heading: it is imported by its name"),
    ("switch", "write IF .. THEN .. ELSIF .. THEN .. ELSE .. END"),
    ("case", "write IF .. THEN .. ELSIF .. THEN .. ELSE .. END"),
    ("break", "a loop ends by its condition: WHILE more DO .. END"),
    ("continue", "put what is left out into IF .. THEN .. END"),
    ("print", "write WRITE(x); WRITELINE"),
    ("type", "a type of one's own is a COMPONENT"),
    ("foreach", "write FOREACH i OF collection DO .. END"),
];

/// Words with which types are made elsewhere.
const TYPES: &[(&str, &str)] = &[
    ("array", "a variable of many values has their indices beside its name: VARIABLE a[i: INTEGER]: REAL"),
    ("list", "a variable of many values has their indices beside its name: VARIABLE a[i: INTEGER]: REAL"),
    ("map", "a variable of many values has their keys beside its name: VARIABLE a[key: TEXT]: REAL"),
    ("set", "a set has its elements as keys: VARIABLE a[element: INTEGER]: BOOLEAN"),
    ("record", "a variable for each field, or a COMPONENT, which has variables"),
    ("pointer", "there are no references: a component is in one variable, which EXISTS asks and NEW fills"),
];

impl Parser<'_> {
    /// What was meant here, if it looks like another language.
    pub(super) fn habit(&self) -> Option<String> {
        let before = self.tokens[self.position.saturating_sub(1)];
        let (here, after) = (self.token(), self.token_after(1));
        for (left, right) in [(before, here), (here, after)] {
            let sign = (self.text_of(left), self.text_of(right));
            let known = SIGNS.iter().find(|(text, _)| text.split_at_checked(1) == Some(sign));
            if let Some((_, help)) = known.filter(|_| left.span.end == right.span.start) {
                return Some(help.to_string());
            }
        }
        if self.text_of(here) == "#" {
            return Some("a comment is (* .. *); `#` asks whether two values differ".into());
        }
        if here.kind == Symbol::Assign.into() {
            return Some("`:=` assigns; a comparison, and a constant's value, is written with `=`".into());
        }
        if here.kind == Symbol::LeftBrace.into() || before.kind == Symbol::LeftBrace.into() {
            return Some(
                "`{` begins attributes: blocks begin with BEGIN, THEN or DO, and stop at END".into(),
            );
        }
        self.foreign_word(here).or_else(|| self.foreign_word(before))
    }

    /// What to write instead of another language's type that begins here.
    pub(super) fn foreign_type(&self) -> Option<&'static str> {
        let word = self.text_of(self.token()).to_ascii_lowercase();
        let (_, help) = TYPES.iter().find(|(foreign, _)| *foreign == word)?;
        let ends = [Symbol::Semicolon, Symbol::RightParenthesis, Symbol::Period, Symbol::LeftBrace];
        let goes_on = !ends.iter().any(|&end| self.token_after(1).kind == end.into());
        (self.at(TokenKind::Name) && goes_on).then_some(help)
    }

    /// At a reserved word in small letters.
    pub(super) fn at_small_keyword(&self) -> bool {
        Keyword::from_text(&self.text_of(self.token()).to_ascii_uppercase()).is_some()
    }

    fn foreign_word(&self, token: Token) -> Option<String> {
        if token.kind != TokenKind::Name {
            return None;
        }
        let word = self.text_of(token);
        let upper = word.to_ascii_uppercase();
        if Keyword::from_text(&upper).is_some() {
            return Some(format!("reserved words are written in capitals: {upper}"));
        }
        let lower = word.to_ascii_lowercase();
        WORDS.iter().find(|(foreign, _)| *foreign == lower).map(|(_, help)| help.to_string())
    }
}
