//! What is wrong with a line, in memcached's words.

use crate::LONGEST_KEY;

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It is answered so, if that isn't empty.
    Told(&'static str),
    /// A value follows that isn't wanted: so many bytes. What was there under the key isn't what the client wants any
    /// more.
    Value { told: &'static str, key: Option<Vec<u8>>, length: usize },
}

/// It is no command.
pub const UNKNOWN: &str = "ERROR";
/// It is a command, and not as it should be.
pub const FORMAT: &str = "CLIENT_ERROR bad command line format";
/// The item is longer than items may be.
pub const TOO_LARGE: &str = "SERVER_ERROR object too large for cache";

/// A key that isn't too long.
pub fn short(key: &[u8]) -> Result<Vec<u8>, Wrong> {
    if key.len() <= LONGEST_KEY { Ok(key.to_vec()) } else { Err(Wrong::Told(FORMAT)) }
}
