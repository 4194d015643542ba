//! `drystone fmt`: gives source files the standard layout.

use std::fs;
use std::path::Path;

use drystone_language::format;

use crate::arguments::Fmt;
use crate::output::{FAILED, Status, WRONG, fail, tell};
use crate::project::Project;
use crate::sources;

/// The result for a file.
enum Outcome {
    /// It has the layout.
    Done,
    /// Its layout would change.
    Differs,
    /// It could not be read or written, or has errors, which were shown.
    Refused(Status),
}

/// Formats all files; an error in one doesn't stop the next.
pub fn fmt(command: &Fmt) -> Result<(), Status> {
    let of_project = if command.files.is_empty() { Project::current()?.sources() } else { Vec::new() };
    let mut result = Ok(());
    for path in command.files.iter().chain(&of_project) {
        match lay_out(path, command.check) {
            Outcome::Done => {}
            Outcome::Differs => {
                tell(path.display());
                result = result.and(Err(FAILED));
            }
            Outcome::Refused(status) => result = Err(status),
        }
    }
    result
}

fn lay_out(path: &Path, only_check: bool) -> Outcome {
    let Some(file) = sources::read(path) else { return Outcome::Refused(WRONG) };
    let text = match format::format(&file.text) {
        Ok(text) => text,
        Err(diagnostics) => {
            sources::show(&[file], &diagnostics);
            return Outcome::Refused(WRONG);
        }
    };
    if text == file.text {
        Outcome::Done
    } else if only_check {
        Outcome::Differs
    } else {
        match fs::write(path, text) {
            Ok(()) => Outcome::Done,
            Err(error) => Outcome::Refused(fail(format_args!("cannot write {}: {error}", path.display()))),
        }
    }
}
