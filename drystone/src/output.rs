//! What commands say, and how they end.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Why a command ends early: its errors are shown by now.
pub struct Status(pub i32);

/// The command line or a program's text is wrong.
pub const WRONG: Status = Status(2);

/// Something went wrong later.
pub const FAILED: Status = Status(1);

/// Says why something failed.
pub fn fail(message: impl std::fmt::Display) -> Status {
    say(format_args!("error: {message}\n"));
    FAILED
}

/// Says what is wrong with the command line.
pub fn wrong(message: impl std::fmt::Display) -> Status {
    say(format_args!("error: {message}\n"));
    WRONG
}

/// Writes to standard error, if anybody reads it.
pub fn say(message: impl std::fmt::Display) {
    let _ = write!(std::io::stderr(), "{message}");
}

/// Writes a line to standard output, if anybody reads it.
pub fn tell(message: impl std::fmt::Display) {
    let _ = writeln!(std::io::stdout(), "{message}");
}

/// Writes a text to a file, or else to standard output, as far as anybody reads it.
pub fn write(output: Option<&Path>, text: &str) -> Result<(), Status> {
    match output {
        Some(path) => fs::write(path, text)
            .map_err(|error| fail(format_args!("cannot write {}: {error}", path.display()))),
        None => match std::io::stdout().write_all(text.as_bytes()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(fail(format_args!("standard output: {error}")))
            }
            _ => Ok(()),
        },
    }
}
