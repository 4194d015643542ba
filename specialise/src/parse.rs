//! Reads LLVM IR text, as clang 16 to 19 print it, to [`crate::ir`]. Bodies are only located here; each is read when it
//! is first asked for, because most of a program is never specialised.
//!
//! It reads x86-64 only. A function with something that [`crate::ir`] can't express (inline assembly, `long double`,
//! exceptions, computed jumps, `va_arg`) is unusable; the rest of the file can be used.

mod aliases;
mod attributes;
mod body;
mod calls;
mod constants;
mod cursor;
mod excerpt;
mod expressions;
pub(crate) mod fold;
mod headers;
mod instructions;
mod lexer;
mod metadata;
mod numbered;
mod parameters;
mod reader;
mod scope;
#[cfg(test)]
mod tests;
mod top;
mod types;
mod unread;
mod values;

use crate::ir::Module;
use excerpt::{excerpt, line};
use std::fmt;
use std::rc::Rc;

/// Why a file could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The file, as it was named to [`read`].
    pub file: Rc<str>,
    /// The line in it, from 1.
    pub line: u32,
    /// What was expected or not understood.
    pub what: String,
    /// The text of the line.
    pub excerpt: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}:{}: {}\n    {}", self.file, self.line, self.what, self.excerpt)
    }
}

impl std::error::Error for ParseError {}

/// Reads the text of an IR file, however much memory that takes; the name is for messages.
pub fn read(text: &str, name: &str) -> Result<Module, ParseError> {
    read_within(text, name, u64::MAX)
}

/// Reads the text of an IR file, as long as what this thread has read, bodies that are read later included, does not
/// take more than so many bytes of memory.
pub fn read_within(text: &str, name: &str, memory: u64) -> Result<Module, ParseError> {
    top::read(text, name, memory).map_err(|fail| ParseError {
        file: name.into(),
        line: line(text, fail.at),
        what: fail.what,
        excerpt: excerpt(text, fail.at),
    })
}
