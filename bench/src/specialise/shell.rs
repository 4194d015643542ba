//! Runs short commands: their output, or why they failed.

use std::path::Path;
use std::process::Command;

/// A command's output, or the first lines of its error.
pub fn run(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = complaint.lines().filter(|line| !line.trim().is_empty()).take(3).collect();
    Err(if lines.is_empty() { format!("{name}: {}", output.status) } else { lines.join("; ") })
}

/// Makes a folder and its parents.
pub fn make_folder(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// Writes a file.
pub fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Reads a text.
pub fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_is_the_reason() {
        let error = run(Command::new("sh").args(["-c", "echo; echo no luck >&2; exit 3"])).unwrap_err();
        assert_eq!(error, "no luck");
        assert_eq!(run(Command::new("sh").args(["-c", "exit 3"])).unwrap_err(), "sh: exit status: 3");
    }
}
