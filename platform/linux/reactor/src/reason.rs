//! Errors of the system, as texts for programs and people.

use std::io;

/// The error's text, without the system's number for it.
pub fn reason(error: &io::Error) -> String {
    without_number(error.to_string())
}

/// The same for a text that ends with an error of the system.
pub fn without_number(mut text: String) -> String {
    text.truncate(text.find(" (os error").unwrap_or(text.len()));
    text
}
