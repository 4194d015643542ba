//! Reads and checks source files; shows their errors.

use std::fs;
use std::io::{ErrorKind, IsTerminal};
use std::path::Path;

use drystone_language::check;
use drystone_language::program::Program;
use drystone_language::render::{self, Colour};
use drystone_language::source::{Diagnostic, SourceFile};

use crate::arguments::Source;
use crate::{Status, WRONG, say};

/// A program without errors, and the text it came from.
pub struct Loaded {
    pub program: Program,
    pub files: Vec<SourceFile>,
}

/// Reads and checks a program.
pub fn load(source: &Source) -> Result<Loaded, Status> {
    let files: Vec<_> = source.files.iter().map(|path| read(path)).collect();
    // All files that cannot be read are named.
    let files = files.into_iter().collect::<Option<Vec<_>>>().ok_or(WRONG)?;
    match check::check_with_entry(&files, source.entry.as_deref()) {
        Ok(program) => Ok(Loaded { program, files }),
        Err(diagnostics) => {
            show(&files, &diagnostics);
            Err(WRONG)
        }
    }
}

/// Reads a file, or says why not.
pub fn read(path: &Path) -> Option<SourceFile> {
    let reason = match fs::read_to_string(path) {
        Ok(text) => return Some(SourceFile { path: path.display().to_string(), text }),
        Err(error) => match error.kind() {
            ErrorKind::NotFound => "there is no such file".to_string(),
            ErrorKind::PermissionDenied => "it may not be read".to_string(),
            ErrorKind::IsADirectory => "it is a directory".to_string(),
            ErrorKind::InvalidData => "it is not a text in UTF-8".to_string(),
            _ => error.to_string(),
        },
    };
    say(format_args!("error: cannot read {}: {reason}\n", path.display()));
    None
}

/// Shows what is wrong with a text.
pub fn show(files: &[SourceFile], diagnostics: &[Diagnostic]) {
    let colour = if std::io::stderr().is_terminal() { Colour::Ansi } else { Colour::Plain };
    say(render::render(files, diagnostics, colour));
}
