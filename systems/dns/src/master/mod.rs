//! Master files, the text form of zones (RFC 1035, section 5), with `$ORIGIN`, `$TTL`, `$INCLUDE`, and BIND's
//! `$GENERATE`.
//!
//! From below: [`lexer`] splits the file into entries of tokens, [`names`] and [`ttl`] read names and times, and
//! [`scanner`] gives entries to the library. [`data`] reads records' data ([`location`]: LOC), [`generate`] makes
//! entries, and [`Reader`] puts records together. Files have no encoding: bytes are kept as they are.

mod data;
mod generate;
mod lexer;
mod location;
mod names;
mod scanner;
mod ttl;

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use domain::base::iana::{Class, Rtype};

use lexer::{Entry, Lexer, Token};
use scanner::Tokens;

/// The greatest depth of included files.
const DEEPEST: usize = 10;
/// The default TTL.
const USUAL_TTL: u32 = 3600;

/// A record of an entry.
#[derive(Debug)]
pub struct Record<'a> {
    /// In wire format.
    pub owner: &'a [u8],
    /// Its type.
    pub rtype: Rtype,
    /// Its TTL in seconds.
    pub ttl: u32,
    /// In wire format, without compression.
    pub data: Vec<u8>,
}

/// The receiver of records; its error is about the record.
pub type Sink<'s> = dyn FnMut(Record<'_>) -> Result<(), String> + 's;

/// Reads a file and those that it includes; returns their paths, its own first. Names without a dot at the end are
/// below `origin`, until the file sets another.
///
/// # Errors
/// What is wrong, and where. The paths read so far are returned even so.
pub fn read(file: &Path, origin: Option<&str>, sink: &mut Sink<'_>) -> (Vec<PathBuf>, Result<(), String>) {
    let mut reader = Reader { sink, files: Vec::new(), default_ttl: None, last_ttl: None, depth: 0 };
    let result = origin_of(origin).and_then(|origin| reader.file(file, Place { origin, owner: None }));
    (reader.files, result)
}

/// As [`read`], for a text without a file.
///
/// # Errors
/// What is wrong, and where.
pub fn read_text(text: &[u8], origin: Option<&str>, sink: &mut Sink<'_>) -> Result<(), String> {
    let mut reader = Reader { sink, files: Vec::new(), default_ttl: None, last_ttl: None, depth: 0 };
    reader.text(text, Path::new(""), Place { origin: origin_of(origin)?, owner: None })
}

fn origin_of(origin: Option<&str>) -> Result<Option<Vec<u8>>, String> {
    let root = [0];
    let read = |name: &str| {
        let token = Token { raw: name.as_bytes(), is_quoted: false, is_joined: false };
        names::read(token, Some(&root)).map_err(|why| format!("the origin `{name}` is no name: {why}"))
    };
    origin.map(read).transpose()
}

/// The context of relative names and of entries without an owner.
struct Place {
    origin: Option<Vec<u8>>,
    owner: Option<Vec<u8>>,
}

/// An included file, and the origin of its names.
struct Included {
    path: PathBuf,
    origin: Option<Vec<u8>>,
}

/// See the head of this file.
struct Reader<'s, 't> {
    sink: &'s mut Sink<'t>,
    files: Vec<PathBuf>,
    default_ttl: Option<u32>,
    last_ttl: Option<u32>,
    depth: usize,
}

impl Reader<'_, '_> {
    fn file(&mut self, file: &Path, place: Place) -> Result<(), String> {
        self.files.push(file.to_path_buf());
        let wrong = |why: &dyn std::fmt::Display| format!("{}: {why}", file.display());
        // Reading a device or a pipe might never end.
        let is_file = fs::metadata(file).map_err(|error| wrong(&error))?.is_file();
        let text = if is_file { fs::read(file) } else { return Err(wrong(&"it is no file")) };
        let text = text.map_err(|error| wrong(&error))?;
        self.text(&text, file, place)
    }

    fn text(&mut self, text: &[u8], file: &Path, mut place: Place) -> Result<(), String> {
        let (mut lexer, mut entry) = (Lexer::new(text), Entry::default());
        let at = |line: usize, why: String| match file.as_os_str().is_empty() {
            true => format!("line {line}: {why}"),
            false => format!("{}:{line}: {why}", file.display()),
        };
        while lexer.next(&mut entry).map_err(|why| at(lexer.line(), why))? {
            let included = self.entry(&entry, &mut place).map_err(|why| at(entry.line, why))?;
            let Some(Included { path, origin }) = included else { continue };
            // The path is relative to the including file. What the included file sets holds until its end.
            if file.as_os_str().is_empty() {
                return Err(at(entry.line, "a text without a file includes none".into()));
            }
            let path = file.parent().unwrap_or(Path::new("")).join(path);
            if self.depth == DEEPEST {
                return Err(at(entry.line, format!("more than {DEEPEST} files include each other")));
            }
            self.depth += 1;
            let inner = Place { origin: origin.or_else(|| place.origin.clone()), owner: place.owner.clone() };
            self.file(&path, inner).map_err(|why| at(entry.line, format!("included here: {why}")))?;
            self.depth -= 1;
        }
        Ok(())
    }

    /// Reads an entry; if it includes a file, returns that and its origin.
    fn entry(&mut self, entry: &Entry<'_>, place: &mut Place) -> Result<Option<Included>, String> {
        let first = entry.tokens[0];
        if entry.is_indented || first.is_quoted || !first.raw.starts_with(b"$") {
            return self.record(entry, place).map(|()| None);
        }
        let mut tokens = Tokens::new(&entry.tokens[1..], place.origin.as_deref());
        let mut included = None;
        match first.word().to_ascii_uppercase().as_str() {
            "$ORIGIN" => {
                let origin = tokens.name().map_err(|why| why.0)?;
                tokens.end().map_err(|why| why.0)?;
                place.origin = Some(origin);
            }
            "$TTL" => {
                let word = tokens.token().map_err(|why| why.0)?.word();
                self.default_ttl = Some(ttl::read(word).ok_or_else(|| format!("`{word}` is no time"))?);
                tokens.end().map_err(|why| why.0)?;
            }
            "$INCLUDE" => {
                use std::os::unix::ffi::OsStringExt;
                let path = tokens.token().map_err(|why| why.0)?.bytes()?;
                let origin = tokens.peek().map(|_| tokens.name()).transpose().map_err(|why| why.0)?;
                tokens.end().map_err(|why| why.0)?;
                let path = std::ffi::OsString::from_vec(path).into();
                included = Some(Included { path, origin });
            }
            "$GENERATE" => {
                for line in generate::lines(&entry.tokens[1..])? {
                    let line = line?;
                    let (mut lexer, mut generated) = (Lexer::new(&line), Entry::default());
                    let in_line =
                        |why: String| format!("{why}, in `{}`", String::from_utf8_lossy(&line).trim_end());
                    while lexer.next(&mut generated).map_err(in_line)? {
                        self.record(&generated, place).map_err(in_line)?;
                    }
                }
            }
            _ => {
                return Err(format!(
                    "`{}` is unknown; there are $ORIGIN, $TTL, $INCLUDE and $GENERATE",
                    first.word()
                ));
            }
        }
        Ok(included)
    }

    fn record(&mut self, entry: &Entry<'_>, place: &mut Place) -> Result<(), String> {
        let mut tokens = &entry.tokens[..];
        if !entry.is_indented {
            place.owner = Some(names::read(tokens[0], place.origin.as_deref())?);
            tokens = &tokens[1..];
        }
        let owner = place.owner.as_deref().ok_or("the first record has no owner")?;
        let (mut ttl, mut has_class) = (None, false);
        let rtype = loop {
            let (token, rest) = tokens.split_first().ok_or("the type is missing")?;
            tokens = rest;
            if token.is_joined {
                return Err(scanner::joined(*token));
            }
            let word = token.word();
            if let Some(seconds) = ttl::read(word).filter(|_| ttl.is_none()) {
                ttl = Some(seconds);
            } else if let Ok(rtype) = Rtype::from_str(word) {
                break rtype;
            } else if let Ok(class) = Class::from_str(word)
                && !has_class
            {
                has_class = true;
                if class != Class::IN {
                    return Err(format!("the class is {class}; this server has IN only"));
                }
            } else {
                return Err(format!("`{}` is no type", String::from_utf8_lossy(token.raw)));
            }
        };
        if matches!(rtype.to_int(), 0 | 41 | 128..=255 | 65535) {
            return Err(format!("{rtype} is no type of records"));
        }
        let data =
            data::read(rtype, &mut Tokens::new(tokens, place.origin.as_deref())).map_err(|why| why.0)?;
        self.last_ttl = ttl.or(self.last_ttl);
        if rtype == Rtype::SOA && self.last_ttl.is_none() {
            // As in other implementations: the TTL of negative answers.
            self.last_ttl = data.last_chunk().map(|bytes| u32::from_be_bytes(*bytes));
        }
        let ttl = ttl.or(self.default_ttl).or(self.last_ttl).unwrap_or(USUAL_TTL);
        (self.sink)(Record { owner, rtype, ttl, data })
    }
}
