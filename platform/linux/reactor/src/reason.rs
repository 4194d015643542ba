//! Why the system refused, in words for a program.

use std::io;

/// What `error` says, without the system's number for it.
pub fn reason(error: &io::Error) -> String {
    without_number(error.to_string())
}

/// The same for what an error of the system is part of.
pub fn without_number(mut text: String) -> String {
    text.truncate(text.find(" (os error").unwrap_or(text.len()));
    text
}
