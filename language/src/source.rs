//! Places in source text, and the errors that point at them.

use std::ops::Range;

/// A stretch of bytes in one of the program's files: `files[file].text[start..end]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Index of the file among those given together.
    pub file: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The smallest span that covers both (of the same file).
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Its beginning, as long as a word.
    pub(crate) fn word(self, word: &str) -> Span {
        Span { end: self.start + word.len() as u32, ..self }
    }
}

/// One file of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// As the user gave it; appears in messages.
    pub path: String,
    /// The whole text.
    pub text: String,
}

impl SourceFile {
    /// Line and column, both from 1, of a byte offset; columns count characters. For many places, ask [`Lines`].
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        Lines::of(&self.text).line_column(offset)
    }
}

/// Finds lines and columns in a text without going through all of it for each.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    text: &'a str,
    /// The first byte of each line.
    starts: Vec<usize>,
    /// How many characters begin before every [`STRETCH`]th byte.
    characters: Vec<usize>,
}

const STRETCH: usize = 256;

impl<'a> Lines<'a> {
    /// Goes through a text once.
    pub fn of(text: &'a str) -> Lines<'a> {
        let newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let starts = [0].into_iter().chain(newlines.map(|(at, _)| at + 1)).collect();
        let mut characters = vec![0];
        for stretch in text.as_bytes().chunks(STRETCH) {
            characters.push(characters[characters.len() - 1] + beginnings(stretch));
        }
        Lines { text, starts, characters }
    }

    /// Line and column, both from 1, of a byte offset; columns count characters.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let offset = self.text.floor_char_boundary(offset as usize);
        let line = self.line(offset);
        let column = self.characters_before(offset) - self.characters_before(self.starts[line]);
        (line as u32 + 1, column as u32 + 1)
    }

    /// The number, from 0, of the line in which a byte is.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset) - 1
    }

    /// The bytes of a line, with what ends it.
    pub fn range(&self, line: usize) -> Range<usize> {
        self.starts[line]..self.starts.get(line + 1).copied().unwrap_or(self.text.len())
    }

    fn characters_before(&self, offset: usize) -> usize {
        let stretch = offset / STRETCH;
        self.characters[stretch] + beginnings(&self.text.as_bytes()[stretch * STRETCH..offset])
    }
}

/// The bytes with which characters begin.
fn beginnings(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
}

/// What is wrong with a program, for people: what happened, where, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The program is right all the same, but hardly as it was meant.
    pub is_warning: bool,
    /// Stable kebab-case name of the error, e.g. `unknown-name`; golden tests are filed under it.
    pub code: &'static str,
    /// One sentence, no full stop.
    pub message: String,
    /// The place to mark.
    pub span: Span,
    /// What to write beside the mark; may be empty.
    pub label: String,
    /// Other places that matter, each with its text.
    pub notes: Vec<(Span, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error with its place marked and nothing else said.
    pub fn new(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Diagnostic {
            is_warning: false,
            code,
            message: message.into(),
            span,
            label: String::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    /// Likewise a warning.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Diagnostic { is_warning: true, ..Diagnostic::new(code, span, message) }
    }

    /// Writes `label` beside the marked place.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Marks another place.
    pub fn note(mut self, span: Span, text: impl Into<String>) -> Self {
        self.notes.push((span, text.into()));
        self
    }

    /// Says what to do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
