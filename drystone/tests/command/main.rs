//! The command as its users meet it: one module for each subcommand, and one that runs all programs of the
//! repository.

mod afternoon;
mod bindings;
mod book;
mod build;
mod certificates;
mod check;
mod composite;
mod control;
mod counted;
mod dispatcher;
mod domains;
mod ends;
mod faults;
mod fmt;
mod graph;
mod handled;
mod handler;
mod http;
mod https;
mod library_http;
mod limits;
mod long;
mod lost;
mod memory;
mod names;
#[allow(dead_code)]
#[path = "../../../platform/linux/handlers/tests/suite/namespace.rs"]
mod namespace;
mod nats;
mod new;
mod nfs;
#[allow(dead_code)]
#[path = "../../../extension/tests/handler/objects.rs"]
mod objects;
mod onc;
mod packages;
mod pc;
mod peer;
mod places;
mod procedures;
mod processes;
mod processors;
mod programs;
mod projects;
mod quit;
mod rebind;
mod run;
mod script;
mod servers;
mod shipped;
mod signals;
mod sockets;
mod space;
mod specialise;
mod sql;
mod strangers;
mod surroundings;
mod systems;
mod tcp;
mod udp;
mod web;
mod with;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The command that is tested.
const DRYSTONE: &str = env!("CARGO_BIN_EXE_drystone");

/// Runs `drystone` in a folder.
fn drystone(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(DRYSTONE);
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.output().expect("the command runs")
}

/// A folder with one file, `program.dry`.
fn folder_with(text: &str) -> TempDir {
    folder_of([("program.dry", text)])
}

/// A folder with these files: names, and what is in them.
fn folder_of(files: impl IntoIterator<Item = (&'static str, impl AsRef<str>)>) -> TempDir {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    for (name, text) in files {
        fs::write(folder.path().join(name), text.as_ref()).expect("a temporary folder can be written");
    }
    folder
}

/// The repository's programs.
fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in a folder").join("programs")
}

/// All source files of the repository's programs, without those that others import.
fn all_programs() -> Vec<PathBuf> {
    let folders = [
        programs(),
        programs().join("lessons"),
        programs().join("library"),
        programs().join("lost"),
        programs().join("packages"),
    ];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("it is there"));
    let files = entries.map(|entry| entry.expect("it can be read").path());
    let mut files: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "dry")).collect();
    let texts = files.iter().map(|path| fs::read_to_string(path).expect("it can be read"));
    let texts: Vec<String> = texts.collect();
    let imports = texts.iter().flat_map(|text| text.lines()).filter_map(|line| line.strip_prefix("IMPORT "));
    let imported: Vec<&str> = imports.flat_map(|names| names.trim_end_matches(';').split(", ")).collect();
    files.retain(|path| !imported.iter().any(|name| path.file_stem().is_some_and(|stem| stem == *name)));
    files.sort();
    assert!(files.len() > 15, "the programs are there");
    files
}

/// What was written to standard output.
fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Standard error, without the messages that a library or the specialiser is being built: the first test to need one
/// builds it.
fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    text.split_inclusive('\n').filter(|line| !line.starts_with("building the ")).collect()
}

/// Exit status; fails for a command that was killed.
fn status(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("{}: {}", output.status, complaint(output)))
}
