//! Outcomes as text: the output of a program and how it ends, in the form of the `.expected` files.
//!
//! The text has standard output (with a line end added if there is none), then `--- status N`. After a run-time error
//! its essential part follows: `kind at file:line:column path`. For a deadlock that is only `deadlock`, because the
//! schedule decides which of the waiting processes is named.

use drystone_language::source::SourceFile;

use crate::reference::{End, Kind, Outcome};

/// The text of an outcome of the interpreter.
pub fn of_interpreter(outcome: &Outcome, files: &[SourceFile]) -> String {
    let (status, error) = match &outcome.end {
        End::Finished => (0, None),
        End::Halted(status) => (*status, None),
        End::Failed(failure) if failure.kind == Kind::Deadlock => (1, Some("deadlock".to_string())),
        End::Failed(failure) => (1, Some(failure.describe(files))),
        End::OutOfSteps => (-1, Some("out of steps".to_string())),
    };
    text(&outcome.output, status, error.as_deref())
}

/// The text of an outcome of the compiled system, from its output, exit status and standard error. The last message
/// `error: kind at file:line:column in path, interface name` is about the error that ended the program.
pub fn of_process(output: &[u8], status: i64, errors: &str) -> String {
    let mut errors = errors.lines().filter_map(|line| line.strip_prefix("error: "));
    let error = errors.next_back().filter(|_| status == 1).map(|error| match error.split_once(" in ") {
        _ if error.starts_with("deadlock") => "deadlock".to_string(),
        Some((location, path)) => format!("{location} {}", path.split(", interface ").next().unwrap_or(path)),
        None => error.to_string(),
    });
    text(output, status, error.as_deref())
}

fn text(output: &[u8], status: i64, error: Option<&str>) -> String {
    let mut text = String::from_utf8_lossy(output).into_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text += &format!("--- status {status}\n");
    if let Some(error) = error {
        text += &format!("{error}\n");
    }
    text
}
