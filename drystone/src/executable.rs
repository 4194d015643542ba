//! `drystone build`: the compiled program, linked with the platform's library that the command carries along (made
//! by `build.rs`).

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;

use crate::arguments::Build;
use crate::{Status, fail, sources, with, write};

/// Platform, runtime and `main` for the program's object file.
static LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libdrystone_start.a.gz"));

/// Makes the executable, or shows what it would be made of.
pub fn build(command: &Build) -> Result<(), Status> {
    let loaded = sources::load(&command.source)?;
    if command.mir {
        let text = drystone_compiler::mir(&loaded.program, &loaded.files);
        return write(command.output.as_deref(), &text);
    }
    let output = match &command.output {
        Some(path) => path.clone(),
        None => PathBuf::from(command.source.files[0].file_stem().expect("it was read: it has a name")),
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
    let object = drystone_compiler::compile_object(&loaded.program, &loaded.files, command.cpu.into());
    link(&object, &output, &command.source.with)
}

/// Makes an executable of a program and the crates that it is built with.
pub fn link(object: &[u8], output: &Path, crates: &[PathBuf]) -> Result<(), Status> {
    let folder = tempfile::tempdir().map_err(|error| fail(format_args!("no temporary folder: {error}")))?;
    let program = folder.path().join("program.o");
    let mut library = folder.path().join("libdrystone_start.a");
    let mut written = fs::write(&program, object);
    if crates.is_empty() {
        written = written.and_then(|()| unpack(&library));
    } else {
        library = with::library(crates)?;
    }
    written.map_err(|error| fail(format_args!("{}: {error}", folder.path().display())))?;
    let mut linker = Command::new("cc");
    linker.arg("-o").arg(output).arg(&program).arg(&library);
    linker.args(["-Wl,--gc-sections", "-Wl,--strip-debug", "-lgcc_eh", "-lgcc", "-lpthread", "-lm", "-ldl"]);
    match linker.output() {
        Ok(done) if done.status.success() => Ok(()),
        Ok(done) => {
            let reason = String::from_utf8_lossy(&done.stderr);
            Err(fail(format_args!("{} could not be linked:\n{}", output.display(), reason.trim_end())))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let hint = "install a C compiler (Debian and Ubuntu: apt-get install gcc)";
            Err(fail(format_args!("no linker: the command cc was not found; {hint}")))
        }
        Err(error) => Err(fail(format_args!("the linker cc cannot be run: {error}"))),
    }
}

fn unpack(to: &Path) -> io::Result<()> {
    io::copy(&mut GzDecoder::new(LIBRARY), &mut File::create(to)?).map(drop)
}
