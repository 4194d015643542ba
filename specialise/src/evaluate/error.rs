//! The reason why a program can't be specialised.

use std::fmt;

/// The reason why there is no residual program.
#[derive(Debug)]
pub struct Error(pub(super) String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
