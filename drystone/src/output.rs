//! Output of the commands, and their exit status.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// The exit status of a command that ends early; its errors have been shown.
pub struct Status(pub i32);

/// The command line or a program's text is wrong.
pub const WRONG: Status = Status(2);

/// Something went wrong later.
pub const FAILED: Status = Status(1);

/// Reports a failure.
pub fn fail(message: impl std::fmt::Display) -> Status {
    say(format_args!("error: {message}\n"));
    FAILED
}

/// Reports an error in the command line.
pub fn wrong(message: impl std::fmt::Display) -> Status {
    say(format_args!("error: {message}\n"));
    WRONG
}

/// Writes to standard error; a closed one is ignored.
pub fn say(message: impl std::fmt::Display) {
    let _ = write!(std::io::stderr(), "{message}");
}

/// Writes a line to standard output; a closed one is ignored.
pub fn tell(message: impl std::fmt::Display) {
    let _ = writeln!(std::io::stdout(), "{message}");
}

/// Writes a text to a file, or to standard output, where a closed one is ignored.
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
