//! `drystone run`: compiles a program into memory and runs it there.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::mem::take;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use drystone_compiler::{Processor, TimeSlices};
use drystone_linux::Options;

use crate::arguments::{Platform, Run, Source};
use crate::emulator::Machine;
use crate::executable::Unwinding;
use crate::output::{Status, fail, wrong};
use crate::project::Project;
use crate::sources::Loaded;
use crate::with::Found;
use crate::{carried, executable, hosted, image, sources, system, with};

/// The program's exit status.
pub fn run(mut command: Run) -> Result<i32, Status> {
    let sources = count_sources(&command.files)?;
    let mut arguments = command.files.split_off(sources);
    if arguments.first().is_some_and(|first| first == "--") {
        arguments.remove(0);
    }
    command.target.check()?;
    if command.target.platform == Platform::Pc {
        check_for_machine(&command, "with --platform pc")?;
    }
    let files: Vec<PathBuf> = take(&mut command.files).into_iter().map(PathBuf::from).collect();
    let mut source = Source { files, entry: command.entry.take(), with: take(&mut command.with) };
    source.complete()?;
    let source_directory = source.files[0].parent().map(PathBuf::from);
    let mut loaded = sources::load(&source)?;
    if let Some(system) = &loaded.program.system {
        system::check_files(&command.target.initial)?;
        check_for_machine(&command, "for a system of native components")?;
        let image = system::Composed::new(&loaded.program, system, &source)?.build()?;
        return run_system(&image, command.target.platform, arguments, command.memory);
    }
    let crates = with::all(&source.with, take(&mut loaded.natives))?;
    carried::check(&loaded, &crates, command.target.platform)?;
    if command.target.platform == Platform::Pc {
        let arguments = arguments.into_iter().map(OsStringExt::into_vec).collect();
        return run_image(loaded, &crates, &command.target.initial, arguments, command.memory);
    }
    if !crates.is_empty() {
        return run_executable(loaded, &crates, |executable| {
            executable.args(&arguments).env("DRYSTONE_CORES", command.cores.to_string());
            executable.env("DRYSTONE_MEMORY", command.memory.unwrap_or(0).to_string());
            executable.env("DRYSTONE_STATS", if command.stats { "yes" } else { "" });
            executable.env("DRYSTONE_GRAPHICS", command.graphics.unwrap_or_default());
            executable.env("DRYSTONE_CONTROL", command.control.unwrap_or_default());
            executable.env("DRYSTONE_SOURCE", source_directory.unwrap_or_default());
        });
    }
    let compiled = drystone_compiler::compile(&loaded.program, &loaded.files, TimeSlices::Kept);
    let options = Options {
        arguments: arguments.into_iter().map(OsStringExt::into_vec).collect(),
        cores: command.cores,
        memory: command.memory.unwrap_or(0),
        stats: command.stats,
        graphics: command.graphics,
        control: command.control,
        source_directory,
        ..Options::default()
    };
    // Not needed while the program runs.
    drop(loaded);
    Ok(drystone_linux::run(compiled, options))
}

/// With crates, the program is made into an executable that replaces this process, so that signals reach it. Its file
/// is deleted before, however it ends.
fn run_executable(
    loaded: Loaded,
    crates: &[Found],
    set_up: impl FnOnce(&mut Command),
) -> Result<i32, Status> {
    let object = drystone_compiler::compile_object(&loaded.program, &loaded.files, Processor::Native);
    let unwinding = Unwinding::of(&loaded);
    drop(loaded);
    become_executable(|path| executable::link(&object, path, crates, unwinding), set_up)
}

/// Makes an executable and replaces this process with it.
fn become_executable(
    link: impl FnOnce(&Path) -> Result<(), Status>,
    set_up: impl FnOnce(&mut Command),
) -> Result<i32, Status> {
    let folder = tempfile::tempdir().map_err(|error| fail(format_args!("no temporary folder: {error}")))?;
    let path = folder.path().join("program");
    link(&path)?;
    let cannot = |error| fail(format_args!("{}: {error}", path.display()));
    let file = File::open(&path).map_err(cannot)?;
    drop(folder);
    let mut executable = Command::new(format!("/proc/self/fd/{}", file.as_raw_fd()));
    set_up(&mut executable);
    Err(cannot(executable.exec()))
}

/// Refuses options that have no meaning for a machine of its own, rather than ignoring them.
fn check_for_machine(command: &Run, what: &str) -> Result<(), Status> {
    let Run { cores, stats, graphics, control, .. } = command;
    let given = [
        ("--cores", *cores > 1, "a program has one processor there"),
        ("--stats", *stats, "nobody counts there"),
        ("--graphics", graphics.is_some(), "what is drawn stays in the machine's memory"),
        ("--control", control.is_some(), "there are no sockets"),
    ];
    match given.iter().find(|(_, is_given, _)| *is_given) {
        Some((option, _, why)) => Err(wrong(format_args!("{option} can't be had {what}: {why}"))),
        None => Ok(()),
    }
}

/// Makes an image and runs it in an emulator.
fn run_image(
    loaded: Loaded,
    crates: &[Found],
    files: &[PathBuf],
    arguments: Vec<Vec<u8>>,
    memory: Option<usize>,
) -> Result<i32, Status> {
    let folder = tempfile::tempdir().map_err(|error| fail(format_args!("no temporary folder: {error}")))?;
    let path = folder.path().join("image");
    let object = drystone_compiler::compile_object(&loaded.program, &loaded.files, Processor::V2);
    drop(loaded);
    image::link(&object, &path, crates, files)?;
    Machine { image: &path, arguments, memory, is_system: false }.run()
}

/// Runs a system's own image, which gets its arguments unchanged.
fn run_system(
    image: &Path,
    platform: Platform,
    arguments: Vec<OsString>,
    memory: Option<usize>,
) -> Result<i32, Status> {
    if platform == Platform::Pc {
        let arguments = arguments.into_iter().map(OsStringExt::into_vec).collect();
        return Machine { image, arguments, memory, is_system: true }.run();
    }
    become_executable(
        |path| hosted::link(image, path),
        |executable| {
            executable.args(arguments).env("DRYSTONE_MEMORY", memory.unwrap_or(0).to_string());
        },
    )
}

/// How many of the words of the command line are source files; none if the project's program is meant.
fn count_sources(words: &[OsString]) -> Result<usize, Status> {
    // The parser leaves out a `--` before all of them.
    let behind = env::args_os().skip_while(|word| word != "--").count().saturating_sub(1);
    let is_behind = behind > 0 && behind == words.len();
    if words.is_empty() || is_behind && Project::of(Path::new(""))?.is_some() {
        return Ok(0);
    }
    // The first word is a source file, whatever its name.
    Ok(words.iter().take_while(|file| is_source(file)).count().max(1))
}

fn is_source(file: &OsString) -> bool {
    Path::new(file).extension().is_some_and(|extension| extension == "dry")
}
