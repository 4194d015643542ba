//! Tokens. Each reserved word and each symbol is written once, in a table.

use crate::source::Span;

/// A token and where it stands. Its text is the source's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// Its place.
    pub span: Span,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TokenKind {
    /// An identifier that is not reserved.
    Name,
    /// A reserved word.
    Keyword(Keyword),
    /// Punctuation or an operator.
    Symbol(Symbol),
    /// `42`, `0FFH`: at most 2^63, which only a minus sign before it makes an INTEGER.
    Integer(u64),
    /// `0FFFFFFFFFFFFFFFFH`: a hexadecimal number above the greatest INTEGER, which stands for its 64 bits.
    Bits(i64),
    /// `0DX`
    Character(u8),
    /// `1.5E-3`
    Real(f64),
    /// A string literal, with its quotes; see `string_bytes`.
    String,
    /// Text that begins like a number and is none, or is too large. It was reported.
    BadNumber,
    /// Characters that mean nothing; or, if empty, the missing end of a string or comment. It was reported, so the
    /// parser reports no error here.
    Bad,
    /// The end of the text.
    End,
}

/// Declares an enumeration of fixed texts, with conversions in both directions.
macro_rules! texts {
    ($(#[$about:meta])* $name:ident { $($variant:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum $name { $($variant,)* }

        impl $name {
            /// All of them, in order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// How it is written.
            pub fn text(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The one that is written so.
            pub fn from_text(text: &str) -> Option<Self> {
                match text { $($text => Some($name::$variant),)* _ => None }
            }
        }
    };
}

texts! {
    /// The reserved words.
    Keyword {
        Import = "IMPORT",
        Component = "COMPONENT",
        Interface = "INTERFACE",
        Implementation = "IMPLEMENTATION",
        Procedure = "PROCEDURE",
        Constant = "CONSTANT",
        Variable = "VARIABLE",
        Offers = "OFFERS",
        Requires = "REQUIRES",
        Begin = "BEGIN",
        Activity = "ACTIVITY",
        Finally = "FINALLY",
        End = "END",
        In = "IN",
        Out = "OUT",
        Any = "ANY",
        Finish = "FINISH",
        If = "IF",
        Then = "THEN",
        Elsif = "ELSIF",
        Else = "ELSE",
        While = "WHILE",
        Do = "DO",
        Repeat = "REPEAT",
        Until = "UNTIL",
        For = "FOR",
        To = "TO",
        By = "BY",
        Foreach = "FOREACH",
        Of = "OF",
        Return = "RETURN",
        Div = "DIV",
        Mod = "MOD",
        And = "AND",
        Or = "OR",
        Is = "IS",
        At = "AT",
    }
}

texts! {
    /// Punctuation and operators.
    Symbol {
        Semicolon = ";",
        Comma = ",",
        Colon = ":",
        Assign = ":=",
        Period = ".",
        Range = "..",
        LeftParenthesis = "(",
        RightParenthesis = ")",
        LeftBracket = "[",
        RightBracket = "]",
        LeftBrace = "{",
        RightBrace = "}",
        Bar = "|",
        Send = "!",
        Receive = "?",
        Equal = "=",
        NotEqual = "#",
        Less = "<",
        LessEqual = "<=",
        Greater = ">",
        GreaterEqual = ">=",
        Plus = "+",
        Minus = "-",
        Times = "*",
        Slash = "/",
        Not = "~",
    }
}

impl Symbol {
    /// The longest symbol that the text starts with.
    pub fn at_start_of(text: &str) -> Option<Symbol> {
        let starting = |length| text.get(..length).and_then(Symbol::from_text);
        starting(2).or_else(|| starting(1))
    }
}

impl From<Keyword> for TokenKind {
    fn from(keyword: Keyword) -> Self {
        TokenKind::Keyword(keyword)
    }
}

impl From<Symbol> for TokenKind {
    fn from(symbol: Symbol) -> Self {
        TokenKind::Symbol(symbol)
    }
}
