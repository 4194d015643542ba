//! Outcomes as text: what a program must write and how it must end, in the form of the `.expected` files.
//!
//! Standard output (with a line end added if it has none), then `--- status N`, then, after a run-time error, its
//! essential part: `kind at file:line:column path`; for a deadlock only `deadlock`, because which of the waiting
//! processes is named depends on the schedule.

use drystone_language::source::SourceFile;

use crate::reference::{End, Kind, Outcome};

/// An outcome of the interpreter.
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

/// An outcome of the compiled system: what it wrote, its exit status, and standard error, where the last message
/// `error: kind at file:line:column in path, interface name` is about what ended the program.
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
