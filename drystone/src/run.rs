//! `drystone run`: compiles a program into memory and runs it there.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use drystone_compiler::TimeSlices;
use drystone_linux::Options;

use crate::arguments::{Run, Source};
use crate::{Status, sources};

/// The program's exit status.
pub fn run(mut command: Run) -> Result<i32, Status> {
    // What comes first is a source file, whatever it is called.
    let sources = command.files.iter().take_while(|file| is_source(file)).count().max(1);
    let mut arguments = command.files.split_off(sources);
    if arguments.first().is_some_and(|first| first == "--") {
        arguments.remove(0);
    }
    let files: Vec<PathBuf> = command.files.into_iter().map(PathBuf::from).collect();
    let source_directory = files[0].parent().map(PathBuf::from);
    let loaded = sources::load(&Source { files, entry: command.entry })?;
    let compiled = drystone_compiler::compile(&loaded.program, &loaded.files, TimeSlices::Kept);
    let options = Options {
        arguments: arguments.into_iter().map(OsStringExt::into_vec).collect(),
        cores: command.cores,
        memory: command.memory.unwrap_or(0),
        stats: command.stats,
        graphics: command.graphics,
        source_directory,
        ..Options::default()
    };
    // Not needed any more while the program runs.
    drop(loaded);
    Ok(drystone_linux::run(compiled, options))
}

fn is_source(file: &OsString) -> bool {
    Path::new(file).extension().is_some_and(|extension| extension == "dry")
}
