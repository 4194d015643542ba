//! The library's `Scanner` over the tokens of an entry: by it the library reads the data of all types that it knows.

use domain::base::CharStr;
use domain::base::iana::Rtype;
use domain::base::name::Name;
use domain::base::scan::{ConvertSymbols, EntrySymbol, Scanner, ScannerError, Symbol};
use domain::dep::octseq::str::Str;
use domain::rdata::ZoneRecordData;

use super::lexer::{Token, byte_of};
use super::names;

/// Data as the library reads it.
pub type Data = ZoneRecordData<Vec<u8>, Name<Vec<u8>>>;

/// An error in an entry.
#[derive(Debug)]
pub struct Wrong(pub String);

impl std::fmt::Display for Wrong {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

/// The error for a word that should be something else.
pub fn strange(what: &str, word: &str) -> Wrong {
    Wrong(format!("`{word}` is no {what}"))
}

impl From<String> for Wrong {
    fn from(why: String) -> Wrong {
        Wrong(why)
    }
}

impl ScannerError for Wrong {
    fn custom(why: &'static str) -> Wrong {
        Wrong(why.into())
    }

    fn end_of_entry() -> Wrong {
        Wrong("there are fewer words than the type has".into())
    }

    fn short_buf() -> Wrong {
        Wrong("the data is too long".into())
    }

    fn trailing_tokens() -> Wrong {
        Wrong("there are more words than the type has".into())
    }
}

/// The tokens not read yet.
#[derive(Debug)]
pub struct Tokens<'a> {
    rest: std::slice::Iter<'a, Token<'a>>,
    origin: Option<&'a [u8]>,
}

impl<'a> Tokens<'a> {
    /// All tokens of an entry; names without a dot at the end are below `origin`.
    pub fn new(tokens: &'a [Token<'a>], origin: Option<&'a [u8]>) -> Tokens<'a> {
        Tokens { rest: tokens.iter(), origin }
    }

    /// The next token.
    ///
    /// # Errors
    /// There is none, or no space before it.
    pub fn token(&mut self) -> Result<Token<'a>, Wrong> {
        let token = self.joined_token()?;
        if token.is_joined {
            return Err(Wrong(joined(token)));
        }
        Ok(token)
    }

    /// The next token, with or without a space before it.
    fn joined_token(&mut self) -> Result<Token<'a>, Wrong> {
        self.rest.next().copied().ok_or_else(Wrong::end_of_entry)
    }

    /// The next token, without taking it.
    pub fn peek(&self) -> Option<Token<'a>> {
        self.rest.as_slice().first().copied()
    }

    /// Checks that all tokens have been read.
    ///
    /// # Errors
    /// There are more.
    pub fn end(&self) -> Result<(), Wrong> {
        if self.rest.as_slice().is_empty() { Ok(()) } else { Err(Wrong::trailing_tokens()) }
    }

    /// The next token as a name in wire format.
    ///
    /// # Errors
    /// It is no name, or there is no token.
    pub fn name(&mut self) -> Result<Vec<u8>, Wrong> {
        Ok(names::read(self.token()?, self.origin)?)
    }

    /// Data of a type that the library knows, in wire format.
    ///
    /// # Errors
    /// The library's error.
    pub fn known(&mut self, rtype: Rtype) -> Result<Vec<u8>, Wrong> {
        use domain::base::rdata::ComposeRecordData;
        let (data, mut bytes) = (Data::scan(rtype, self)?, Vec::new());
        let Ok(()) = data.compose_rdata(&mut bytes);
        Ok(bytes)
    }
}

impl Scanner for Tokens<'_> {
    type Octets = Vec<u8>;
    type OctetsBuilder = Vec<u8>;
    type Name = Name<Vec<u8>>;
    type Error = Wrong;

    fn has_space(&self) -> bool {
        self.peek().is_some_and(|token| !token.is_joined)
    }

    fn continues(&mut self) -> bool {
        self.peek().is_some()
    }

    fn scan_symbols<F>(&mut self, mut op: F) -> Result<(), Wrong>
    where
        F: FnMut(Symbol) -> Result<(), Wrong>,
    {
        self.token()?.symbols().try_for_each(|symbol| op(symbol?))
    }

    fn scan_entry_symbols<F>(&mut self, mut op: F) -> Result<(), Wrong>
    where
        F: FnMut(EntrySymbol) -> Result<(), Wrong>,
    {
        while self.continues() {
            self.scan_symbols(|symbol| op(symbol.into()))?;
            op(EntrySymbol::EndOfToken)?;
        }
        Ok(())
    }

    fn convert_token<C: ConvertSymbols<Symbol, Wrong>>(&mut self, mut convert: C) -> Result<Vec<u8>, Wrong> {
        let mut bytes = Vec::new();
        self.scan_symbols(|symbol| {
            bytes.extend_from_slice(convert.process_symbol(symbol)?.unwrap_or_default());
            Ok(())
        })?;
        bytes.extend_from_slice(convert.process_tail()?.unwrap_or_default());
        Ok(bytes)
    }

    fn convert_entry<C: ConvertSymbols<EntrySymbol, Wrong>>(
        &mut self,
        mut convert: C,
    ) -> Result<Vec<u8>, Wrong> {
        let mut bytes = Vec::new();
        self.scan_entry_symbols(|symbol| {
            bytes.extend_from_slice(convert.process_symbol(symbol)?.unwrap_or_default());
            Ok(())
        })?;
        bytes.extend_from_slice(convert.process_tail()?.unwrap_or_default());
        Ok(bytes)
    }

    fn scan_octets(&mut self) -> Result<Vec<u8>, Wrong> {
        Ok(self.token()?.bytes()?)
    }

    fn scan_svcb_octets(&mut self) -> Result<Vec<u8>, Wrong> {
        let mut bytes = self.scan_octets()?;
        if self.peek().is_some_and(|token| token.is_joined && token.is_quoted) {
            bytes.extend(self.joined_token()?.bytes()?);
        }
        Ok(bytes)
    }

    fn scan_ascii_str<F, T>(&mut self, op: F) -> Result<T, Wrong>
    where
        F: FnOnce(&str) -> Result<T, Wrong>,
    {
        let bytes = self.scan_octets()?;
        let text = std::str::from_utf8(&bytes).ok().filter(|text| text.is_ascii());
        op(text.ok_or_else(|| Wrong("a word has other signs than ASCII's".into()))?)
    }

    fn scan_name(&mut self) -> Result<Name<Vec<u8>>, Wrong> {
        Name::from_octets(self.name()?).map_err(|error| Wrong(error.to_string()))
    }

    fn scan_charstr(&mut self) -> Result<CharStr<Vec<u8>>, Wrong> {
        CharStr::from_octets(self.scan_octets()?).map_err(|_| Wrong(TOO_LONG.into()))
    }

    fn scan_string(&mut self) -> Result<Str<Vec<u8>>, Wrong> {
        Str::from_utf8(self.scan_octets()?).map_err(|error| Wrong(error.to_string()))
    }

    fn scan_charstr_entry(&mut self) -> Result<Vec<u8>, Wrong> {
        let (mut bytes, mut token) = (Vec::new(), self.token()?);
        loop {
            let begin = bytes.len();
            bytes.push(0);
            bytes.extend(token.symbols().map(|symbol| symbol.map(byte_of)).collect::<Result<Vec<_>, _>>()?);
            bytes[begin] = u8::try_from(bytes.len() - begin - 1).map_err(|_| Wrong(TOO_LONG.into()))?;
            if !self.continues() {
                return Ok(bytes);
            }
            token = self.joined_token()?;
        }
    }

    fn scan_opt_unknown_marker(&mut self) -> Result<bool, Wrong> {
        let is_marker = self.peek().is_some_and(|token| !token.is_quoted && token.raw == b"\\#");
        if is_marker {
            self.token()?;
        }
        Ok(is_marker)
    }

    fn octets_builder(&mut self) -> Result<Vec<u8>, Wrong> {
        Ok(Vec::new())
    }
}

/// The error for a token without a space before it.
pub fn joined(token: Token<'_>) -> String {
    format!("a space is missing before `{}`", String::from_utf8_lossy(token.raw))
}

const TOO_LONG: &str = "a text has more than 255 bytes; write several";
