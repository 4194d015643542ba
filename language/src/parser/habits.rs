//! Help for words and signs of other languages: what to write instead. Only consulted at an error.

use super::state::Parser;
use crate::lexer::{Keyword, Symbol, Token, TokenKind};

/// Two adjacent tokens that are one sign in other languages.
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
    ("<<", "there are no operations on bits: write x * 4, or x DIV 4"),
    (">>", "there are no operations on bits: write x * 4, or x DIV 4"),
    ("=<", "\"less or equal\" is written `<=`"),
    (":-", "an assignment is written `:=`"),
];

/// Help for CASE and SWITCH.
const BRANCHES: &str = "write CASE x OF 1: .. | 2, 3: .. ELSE .. END";

/// Help for what other languages call SELECT.
const SELECTS: &str =
    "write SELECT a?Get(x): .. | b?Put(y): .. END, or CASE x OF 1: .. | 2, 3: .. ELSE .. END";

/// Help for a message in an expression.
const MESSAGE: &str = "a message is a statement, no expression: s!Get; s?Value(x)";

/// Help for `c ? a : b`.
const CHOICE: &str = "a choice is a statement: write IF .. THEN .. ELSE .. END";

/// Words of other languages for which this one has others.
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
    ("dim", "write VARIABLE x: Type; before BEGIN"),
    ("long", "write VARIABLE x: INTEGER; before BEGIN"),
    ("integer", "a type stands behind a colon: VARIABLE x: INTEGER; before BEGIN"),
    ("float", "write VARIABLE x: REAL; before BEGIN"),
    ("double", "write VARIABLE x: REAL; before BEGIN"),
    ("real", "a type stands behind a colon: VARIABLE x: REAL; before BEGIN"),
    ("bool", "write VARIABLE x: BOOLEAN; before BEGIN"),
    ("boolean", "a type stands behind a colon: VARIABLE x: BOOLEAN; before BEGIN"),
    ("char", "write VARIABLE x: CHARACTER; before BEGIN"),
    ("character", "a type stands behind a colon: VARIABLE x: CHARACTER; before BEGIN"),
    ("string", "write VARIABLE x: TEXT; before BEGIN"),
    ("text", "a type stands behind a colon: VARIABLE x: TEXT; before BEGIN"),
    ("array", "write VARIABLE a[i: INTEGER]: Type; before BEGIN"),
    ("as", "a type stands behind a colon: x: INTEGER"),
    ("class", "write COMPONENT Name; .. END Name;"),
    ("struct", "write RECORD Name; x, y: INTEGER END Name;"),
    ("record", "write RECORD Name; x, y: INTEGER END Name;"),
    ("union", "there are no unions: write a variable for each variant, and one that says which holds"),
    ("enum", "there are no enumerations: write CONSTANT first = 0; second = 1; before BEGIN"),
    ("object", "write COMPONENT Name; .. END Name;"),
    ("task", "write COMPONENT Name; .. ACTIVITY .. END Name; each has a process of its own"),
    ("process", "write COMPONENT Name; .. ACTIVITY .. END Name; each has a process of its own"),
    ("thread", "write COMPONENT Name; .. ACTIVITY .. END Name; each has a process of its own"),
    ("actor", "write COMPONENT Name; .. ACTIVITY .. END Name; each has a process of its own"),
    ("monitor", "write COMPONENT Name; .. END Name; BEGIN {EXCLUSIVE} .. END has it alone"),
    ("trait", "write INTERFACE Name; .. END Name;"),
    ("protocol", "write INTERFACE Name; .. END Name;"),
    ("definition", "write INTERFACE Name; .. END Name;"),
    ("impl", "write IMPLEMENTATION Interface; .. END Interface; in the component that offers it"),
    (
        "extends",
        "there is no inheritance: a component holds other components in variables, and offers interfaces",
    ),
    (
        "inherits",
        "there is no inheritance: a component holds other components in variables, and offers interfaces",
    ),
    ("implements", "write COMPONENT Name OFFERS Interface; its IMPLEMENTATION stands within"),
    ("exception", "there are no exceptions: write a message for what may go wrong"),
    ("property", "write VARIABLE x: Type; other components ask by messages of an INTERFACE"),
    ("label", "there are no labels: write WHILE .. DO .. END"),
    ("global", "write VARIABLE x: Type; in the component that has it"),
    ("public", "other components use the interfaces that a component OFFERS; all else is its own"),
    ("private", "other components use the interfaces that a component OFFERS; all else is its own"),
    ("forward", "a procedure can be called before it is declared: leave this line out"),
    ("include", "write IMPORT Name; at the beginning of a file"),
    ("use", "write IMPORT Name; at the beginning of a file"),
    ("using", "write IMPORT Name; at the beginning of a file"),
    ("from", "write IMPORT Name; at the beginning of a file, and Name.Thing where it is used"),
    ("program", "write COMPONENT Name; .. END Name;"),
    ("module", "write COMPONENT Name; .. END Name; a file that others IMPORT has no heading"),
    ("package", "a file has no heading: it is imported by its name"),
    ("namespace", "a file has no heading: it is imported by its name"),
    ("switch", BRANCHES),
    ("case", BRANCHES),
    ("select", SELECTS),
    ("match", BRANCHES),
    ("unless", "write IF ~condition THEN .. END"),
    ("loop", "write REPEAT .. UNTIL condition, or WHILE TRUE DO .. END"),
    ("with", "a name is written in full wherever it is used"),
    ("try", "there are no exceptions: write a message for what may go wrong, and IF ?Message THEN .. END"),
    ("break", "EXIT leaves a loop"),
    ("exit", "EXIT alone leaves a loop, RETURN a procedure; HALT(n) ends the program"),
    ("continue", "put what is left out into IF .. THEN .. END"),
    ("goto", "there are no jumps: write WHILE .. DO .. END, or a PROCEDURE"),
    ("gosub", "a procedure is called by its name: Name(x)"),
    ("call", "a procedure is called by its name: Name(x)"),
    ("go", "NEW(x) makes a component, whose ACTIVITY runs beside this"),
    ("spawn", "NEW(x) makes a component, whose ACTIVITY runs beside this"),
    ("defer", "write it at the end, or in FINALLY of the component"),
    ("throw", "there are no exceptions: write a message for what may go wrong"),
    ("raise", "there are no exceptions: write a message for what may go wrong"),
    ("step", "write FOR i := 1 TO 9 BY 2 DO .. END"),
    ("downto", "write FOR i := 9 TO 1 BY -1 DO .. END"),
    ("each", "write FOREACH i OF collection DO .. END"),
    ("rem", "a comment is (* .. *)"),
    ("print", "write WRITE(x); WRITELINE"),
    ("input", "require Console, then Console!ReadLine; Console?Line(x)"),
    ("type", "a type of one's own is a RECORD, which has values, or a COMPONENT"),
    ("foreach", "write FOREACH i OF collection DO .. END"),
];

/// Words that make types in other languages.
const TYPES: &[(&str, &str)] = &[
    ("array", "a variable of many values has their indices beside its name: VARIABLE a[i: INTEGER]: REAL"),
    ("list", "a variable of many values has their indices beside its name: VARIABLE a[i: INTEGER]: REAL"),
    ("map", "a variable of many values has their keys beside its name: VARIABLE a[key: TEXT]: REAL"),
    ("set", "a set has its elements as keys: VARIABLE a[element: INTEGER]: BOOLEAN"),
    ("record", "a record has a name: RECORD Point; x, y: INTEGER END Point; then VARIABLE p: Point"),
    ("pointer", "there are no references: a component is in one variable, which EXISTS asks and NEW fills"),
];

impl Parser<'_> {
    /// The help for the error here, if the text looks like another language.
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
        if let Some(help) = self.habit_of_expressions(before, here) {
            return Some(help.into());
        }
        if self.text_of(here) == "#" {
            return Some("a comment is (* .. *); `#` asks whether two values differ".into());
        }
        let is_loop = [Keyword::For, Keyword::Foreach].map(TokenKind::from).contains(&self.kind_before(2));
        if here.kind == Keyword::In.into() && is_loop {
            return Some("write FOREACH i OF collection DO .. END".into());
        }
        if here.kind == Keyword::Do.into() {
            return Some("write WHILE condition DO .. END, or REPEAT .. UNTIL condition".into());
        }
        if here.kind == Symbol::Period.into() {
            return Some("`END Name` is followed by `;`".into()).filter(|_| self.is_behind_end());
        }
        if here.kind == Symbol::Assign.into() {
            return Some("`:=` assigns; a comparison, and a constant's value, is written with `=`".into());
        }
        if here.kind == Symbol::LeftBrace.into() || before.kind == Symbol::LeftBrace.into() {
            return Some(
                "`{` begins attributes: blocks begin with BEGIN, THEN or DO, and stop at END".into(),
            );
        }
        let is_type = self.kind_before(2) == Symbol::Colon.into();
        self.foreign_word(here)
            .or_else(|| self.foreign_word(before).filter(|_| !is_type))
            .or_else(|| self.bare_argument(before))
    }

    /// The help for signs that belong to expressions of other languages.
    fn habit_of_expressions(&self, before: Token, here: Token) -> Option<&'static str> {
        let is_behind_value = match before.kind {
            TokenKind::Symbol(Symbol::RightParenthesis | Symbol::RightBracket) => true,
            kind => kind == TokenKind::Name,
        };
        let is_behind_test = self.kind_before(2) == Symbol::Receive.into();
        Some(match here.kind {
            TokenKind::Symbol(Symbol::Send) if is_behind_value => {
                return (self.is_assigned() && !self.on_a_new_line()).then_some(MESSAGE);
            }
            TokenKind::Symbol(Symbol::Send) => "\"not\" is written `~`: ~(a = b)",
            TokenKind::Symbol(Symbol::LeftParenthesis) if is_behind_test => MESSAGE,
            TokenKind::Symbol(Symbol::Colon) if is_behind_test => CHOICE,
            TokenKind::Keyword(Keyword::Any | Keyword::Finish) => {
                "ANY and FINISH stand in tests: IF INPUT(s, ANY) THEN, IF s?FINISH THEN"
            }
            TokenKind::Integer(_) | TokenKind::Real(_) | TokenKind::Character(_) | TokenKind::String
                if before.kind == Symbol::Receive.into() =>
            {
                CHOICE
            }
            TokenKind::String if before.kind == TokenKind::Name && before.span.end == here.span.start => {
                "texts are put together with `+`: \"x = \" + TEXT(x)"
            }
            _ if self.text_of(before).eq_ignore_ascii_case("NEW") => {
                "NEW(x) makes a component in variable x, which is declared with its type: x: Template"
            }
            _ => return None,
        })
    }

    /// Whether `:=` stands before this in the same statement.
    fn is_assigned(&self) -> bool {
        let before = self.tokens[..self.position].iter().rev().map(|token| token.kind);
        let ends =
            |kind: &TokenKind| matches!(kind, TokenKind::Keyword(_)) || *kind == Symbol::Semicolon.into();
        before.take_while(|kind| !ends(kind)).any(|kind| kind == Symbol::Assign.into())
    }

    /// The help for an argument without parentheses behind the name of a procedure.
    fn bare_argument(&self, before: Token) -> Option<String> {
        let is_value = matches!(self.kind(), TokenKind::Name | TokenKind::String | TokenKind::Integer(_));
        let is_type = self.kind_before(2) == Symbol::Colon.into();
        let is_call = before.kind == TokenKind::Name
            && !is_type
            && self.position.checked_sub(1).is_some_and(|at| self.begins_statement(at));
        let help = || format!("arguments stand in parentheses: {}(x)", self.text_of(before));
        (is_value && is_call && !self.on_a_new_line()).then(help)
    }

    /// The kind of the token that is so many tokens before the next one.
    pub(super) fn kind_before(&self, back: usize) -> TokenKind {
        self.position.checked_sub(back).map_or(TokenKind::End, |at| self.tokens[at].kind)
    }

    /// Whether the last tokens were `END Name`.
    fn is_behind_end(&self) -> bool {
        self.position >= 2 && self.tokens[self.position - 2].kind == Keyword::End.into()
    }

    /// What to write instead of another language's type that begins here.
    pub(super) fn foreign_type(&self) -> Option<&'static str> {
        let word = self.text_of(self.token()).to_ascii_lowercase();
        let (_, help) = TYPES.iter().find(|(foreign, _)| *foreign == word)?;
        let ends = [Symbol::Semicolon, Symbol::RightParenthesis, Symbol::Period, Symbol::LeftBrace];
        let goes_on = !ends.iter().any(|&end| self.token_after(1).kind == end.into());
        (self.at(TokenKind::Name) && goes_on).then_some(help)
    }

    /// Whether a reserved word in small letters stands here.
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
