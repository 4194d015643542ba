//! Errors of a server or of the connection to it.

use std::{fmt, io};

/// Why there is no outcome.
#[derive(Debug)]
pub enum Error {
    /// The connection failed.
    Io(io::Error),
    /// The server refused the program, for this reason.
    Refused(String),
    /// The connection or the communication has ended, or the server's messages make no sense.
    Lost(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(error) => write!(f, "{error}"),
            Error::Refused(why) => write!(f, "the server doesn't run it: {why}"),
            Error::Lost(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Io(error)
    }
}
