//! `drystone build`: the compiled program, linked with the platform's library.

use std::fs;
use std::mem::take;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::arguments::{self, Build};
use crate::library::Platform;
use crate::linker::{Parts, leave_out_unwinding, run};
use crate::output::{Status, fail, write};
use crate::sizes::Native;
use crate::sources::Loaded;
use crate::with::Found;
use crate::{carried, hosted, image, sizes, sources, system, with};

/// Makes the executable, or shows what it would be made of.
pub fn build(mut command: Build) -> Result<(), Status> {
    let project = command.source.complete()?;
    let command = &command;
    command.target.check()?;
    let mut loaded = sources::load(&command.source)?;
    if loaded.program.system.is_some() {
        system::check(command)?;
    }
    if command.mir {
        let text = drystone_compiler::mir(&loaded.program, &loaded.files);
        return write(command.output.as_deref(), &text);
    }
    let output = match (&command.output, project) {
        (Some(path), _) => path.clone(),
        (None, Some(project)) => PathBuf::from(project.name),
        (None, None) => {
            PathBuf::from(command.source.files[0].file_stem().expect("it was read: it has a name"))
        }
    };
    if output.is_dir() {
        let hint = "choose another name with -o";
        return Err(fail(format_args!("{} is a directory: {hint}", output.display())));
    }
    if command.source.files.contains(&output) {
        return Err(fail(format_args!(
            "{} is the program's text: choose another name with -o",
            output.display()
        )));
    }
    let mut natives = Vec::new();
    let mut made = output.clone();
    match &loaded.program.system {
        Some(parts) => {
            let system = system::Composed::new(&loaded.program, parts, &command.source)?;
            made = system.build()?;
            natives = system.natives();
            if command.target.platform == arguments::Platform::Linux {
                hosted::link(&made, &output)?;
            }
        }
        None => {
            let crates = with::all(&command.source.with, take(&mut loaded.natives))?;
            carried::check(&loaded, &crates, command.target.platform)?;
            let object =
                drystone_compiler::compile_object(&loaded.program, &loaded.files, command.cpu.into());
            match command.target.platform {
                arguments::Platform::Linux => link(&object, &output, &crates, Unwinding::of(&loaded))?,
                arguments::Platform::Pc => image::link(&object, &output, &crates, &command.target.initial)?,
            }
        }
    }
    finish(command, &made, &output, &natives)
}

/// Shows the sizes by owner, if they are asked for, and strips from an image what no machine loads.
fn finish(command: &Build, made: &Path, output: &Path, natives: &[Native]) -> Result<(), Status> {
    let is_image = command.target.platform == arguments::Platform::Pc;
    if !is_image && !command.sizes {
        return Ok(());
    }
    let cannot = |error: &dyn std::fmt::Display| fail(format_args!("{}: {error}", output.display()));
    let mut file = fs::read(made).map_err(|error| cannot(&error))?;
    if command.sizes {
        write(None, &sizes::table(&file, natives).map_err(|error| cannot(&error))?)?;
    }
    if is_image {
        image::strip(&mut file).map_err(|error| cannot(&error))?;
        fs::write(output, file).map_err(|error| cannot(&error))?;
    }
    Ok(())
}

/// What unwinding needs in an executable, and adds a third to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unwinding {
    /// It is there: a panic of a procedure that a crate carries is caught.
    Kept,
    /// Nothing catches a panic.
    LeftOut,
}

impl Unwinding {
    /// What a program needs.
    pub fn of(loaded: &Loaded) -> Unwinding {
        if carried::are_called(loaded) { Unwinding::Kept } else { Unwinding::LeftOut }
    }
}

/// Makes an executable of a program and the crates that are built in.
pub fn link(object: &[u8], output: &Path, crates: &[Found], unwinding: Unwinding) -> Result<(), Status> {
    let parts = Parts::new(object, crates, Platform::Linux)?;
    let mut linker = Command::new("cc");
    linker.arg("-o").arg(output).args([&parts.program, &parts.library]);
    linker.args(["-Wl,--gc-sections", "-Wl,--strip-debug", "-lgcc_eh", "-lgcc", "-lpthread", "-lm", "-ldl"]);
    if unwinding == Unwinding::LeftOut {
        leave_out_unwinding(&mut linker, parts.folder.path())?;
    }
    run(linker, output)
}
