//! Reads and checks source files; shows their errors.

use std::collections::HashSet;
use std::fs;
use std::io::{Error, ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};

use drystone_language::check::{self, Options};
use drystone_language::imports::{self, Packages};
use drystone_language::program::Program;
use drystone_language::render::{self, Colour};
use drystone_language::source::{Diagnostic, SourceFile};

use crate::arguments::Source;
use crate::output::{Status, WRONG, say, wrong};
use crate::packages::{self, Known};
use crate::project::Project;
use crate::with::Found;

/// Files of the library that belong to other rooms, by name and text; a file of the same name beside the program takes
/// precedence.
const LIBRARY: &[(&str, &str)] = &[
    ("Kortex.dry", include_str!("../../kortex/Kortex.dry")),
    ("Machine.dry", include_str!("../../platform/pc/machine/Machine.dry")),
];

/// A program without errors, and the text it came from.
pub struct Loaded {
    pub program: Program,
    pub files: Vec<SourceFile>,
    /// The crates of its packages, to be built in.
    pub natives: Vec<Found>,
}

/// Loads and checks a program, and shows warnings.
pub fn load(source: &Source) -> Result<Loaded, Status> {
    load_with(&source.files, options(source))
}

/// Likewise files that need not be a whole program.
pub fn load_any(source: &Source) -> Result<Loaded, Status> {
    let options = options(source);
    let options = if source.entry.is_none() { options.part() } else { options };
    load_with(&source.files, options)
}

/// Likewise a file whose declarations are needed, whatever program it belongs to.
pub fn load_part(file: &Path) -> Result<Loaded, Status> {
    load_with(&[file.to_path_buf()], Options::default().part().beside_crates())
}

/// The checker's options.
fn options(source: &Source) -> Options<'_> {
    let options = Options::default().entry(source.entry.as_deref());
    if source.with.is_empty() { options } else { options.beside_crates() }
}

fn load_with(files: &[PathBuf], options: Options) -> Result<Loaded, Status> {
    if let Some(again) = given_again(files) {
        return Err(wrong(format_args!("{} is given twice", again.display())));
    }
    let project = Project::of(&files[0])?;
    let known = project.as_ref().map(packages::of).transpose()?.unwrap_or_default();
    let files: Vec<_> = files.iter().map(|path| read(path)).collect();
    // All unreadable files are reported, not only the first.
    let files = files.into_iter().collect::<Option<Vec<_>>>().ok_or(WRONG)?;
    let Known { packages, natives } = known;
    let files = imported(files, &packages).ok_or(WRONG)?;
    let options = if natives.is_empty() { options } else { options.beside_crates() };
    match check::check(&files, options.packages(&packages)) {
        Ok(program) => {
            show(&files, &program.warnings);
            Ok(Loaded { program, files, natives })
        }
        Err(diagnostics) => {
            show(&files, &diagnostics);
            Err(WRONG)
        }
    }
}

/// The first file that is given twice, perhaps by another path.
fn given_again(files: &[PathBuf]) -> Option<&PathBuf> {
    let mut known = HashSet::new();
    files.iter().find(|path| !known.insert(path.canonicalize().unwrap_or_else(|_| path.to_path_buf())))
}

/// Adds imported files; `None` if one exists and can't be read.
fn imported(files: Vec<SourceFile>, packages: &Packages) -> Option<Vec<SourceFile>> {
    let mut readable = true;
    let files = packages.load(files, |path| {
        if let Some(name) = path.strip_prefix(imports::LIBRARY) {
            return LIBRARY.iter().find(|(file, _)| *file == name).map(|(_, text)| text.to_string());
        }
        match fs::read_to_string(path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                readable = false;
                cannot_read(Path::new(path), &error);
                None
            }
        }
    });
    readable.then_some(files)
}

/// Reads a file, or reports why it can't.
pub fn read(path: &Path) -> Option<SourceFile> {
    match fs::read_to_string(path) {
        Ok(text) => Some(SourceFile { path: path.display().to_string(), text }),
        Err(error) => {
            cannot_read(path, &error);
            None
        }
    }
}

fn cannot_read(path: &Path, error: &Error) {
    let reason = match error.kind() {
        ErrorKind::NotFound if path.as_os_str().as_encoded_bytes().starts_with(b"-") => {
            "there is no such option, and no such file (drystone help shows the options)".to_string()
        }
        ErrorKind::NotFound => "there is no such file".to_string(),
        ErrorKind::PermissionDenied => "it may not be read".to_string(),
        ErrorKind::IsADirectory => "it is a directory".to_string(),
        ErrorKind::InvalidData => "it is not a text in UTF-8".to_string(),
        _ => error.to_string(),
    };
    say(format_args!("error: cannot read {}: {reason}\n", path.display()));
}

/// At most so many diagnostics are shown: a file that is no source has one for each line.
const SHOWN: usize = 100;

/// Shows a text's diagnostics.
pub fn show(files: &[SourceFile], diagnostics: &[Diagnostic]) {
    let colour = if std::io::stderr().is_terminal() { Colour::Ansi } else { Colour::Plain };
    let (shown, left) = diagnostics.split_at(diagnostics.len().min(SHOWN));
    say(render::render(files, shown, colour));
    if !left.is_empty() {
        say(format_args!("and {} more\n", left.len()));
    }
}
