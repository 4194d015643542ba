//! Reads LLVM IR text, as clang 16 to 19 print it, into [`crate::ir`]. Bodies are only located here. Each is read when
//! it is first asked for, because most of a program is never specialised.
//!
//! Only IR for x86-64 is read. A function with a construct that [`crate::ir`] can't express (inline assembly, `long
//! double`, exceptions, computed jumps, `va_arg`) is unusable; the rest of the file remains usable.

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
    /// The file, under the name given to [`read`].
    pub file: Rc<str>,
    /// The line in the file, from 1.
    pub line: u32,
    /// The expected token, or the text that was not understood.
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

/// Reads the text of an IR file, without a limit on memory; the name is for messages.
pub fn read(text: &str, name: &str) -> Result<Module, ParseError> {
    read_within(text, name, u64::MAX)
}

/// Reads the text of an IR file. Fails if all that this thread has read takes more than `memory` bytes; bodies that are
/// read later count too.
pub fn read_within(text: &str, name: &str, memory: u64) -> Result<Module, ParseError> {
    top::read(text, name, memory).map_err(|fail| ParseError {
        file: name.into(),
        line: line(text, fail.at),
        what: fail.what,
        excerpt: excerpt(text, fail.at),
    })
}
