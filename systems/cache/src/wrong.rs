//! Errors in a line, in memcached's words.

use crate::LONGEST_KEY;

/// An error in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// The answer, unless it is empty.
    Told(&'static str),
    /// An answer, and the bytes of an unwanted value that follows. The item under the key is removed, because it is out
    /// of date.
    Value { told: &'static str, key: Option<Vec<u8>>, length: usize },
}

/// The command is unknown.
pub const UNKNOWN: &str = "ERROR";
/// The command's format is wrong.
pub const FORMAT: &str = "CLIENT_ERROR bad command line format";
/// The item is too long.
pub const TOO_LARGE: &str = "SERVER_ERROR object too large for cache";

/// The key, if it is short enough.
pub fn short(key: &[u8]) -> Result<Vec<u8>, Wrong> {
    if key.len() <= LONGEST_KEY { Ok(key.to_vec()) } else { Err(Wrong::Told(FORMAT)) }
}
