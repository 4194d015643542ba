//! Reads and checks source files; shows their errors.

use std::io::IsTerminal;
use std::path::PathBuf;

use drystone_language::check;
use drystone_language::program::Program;
use drystone_language::render::{self, Colour};
use drystone_language::source::SourceFile;

/// Reads the files, in order.
pub fn read(paths: &[PathBuf]) -> Result<Vec<SourceFile>, i32> {
    let mut files = Vec::new();
    for path in paths {
        match std::fs::read_to_string(path) {
            Ok(text) => files.push(SourceFile { path: path.display().to_string(), text }),
            Err(error) => {
                eprintln!("error: cannot read {}: {error}", path.display());
                return Err(2);
            }
        }
    }
    Ok(files)
}

/// The checked program, or the exit status after its errors have been shown.
pub fn load(paths: &[PathBuf], entry: Option<&str>) -> Result<(Program, Vec<SourceFile>), i32> {
    let files = read(paths)?;
    match check::check_with_entry(&files, entry) {
        Ok(program) => Ok((program, files)),
        Err(diagnostics) => {
            let colour = if std::io::stderr().is_terminal() { Colour::Ansi } else { Colour::Plain };
            eprint!("{}", render::render(&files, &diagnostics, colour));
            Err(2)
        }
    }
}
