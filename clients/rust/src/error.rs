//! What goes wrong at a server.

use std::{fmt, io};

/// Why there is no outcome.
#[derive(Debug)]
pub enum Error {
    /// The connection.
    Io(io::Error),
    /// The server doesn't run the program.
    Refused(String),
    /// The connection or the communication is over, or something has come that makes no sense.
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
