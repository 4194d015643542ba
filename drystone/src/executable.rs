//! `drystone build`: the compiled program, linked with the platform's library that the command carries along (made
//! by `build.rs`).

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;

use crate::arguments::{self, Build};
use crate::library::Platform;
use crate::sizes::Native;
use crate::{Status, fail, image, sizes, sources, system, with, write};

/// Platform, runtime and `main` for the program's object file.
static LINUX: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libdrystone-start.a.gz"));
/// The same for an image.
static PC: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libdrystone-image.a.gz"));

/// Makes the executable, or shows what it would be made of.
pub fn build(command: &Build) -> Result<(), Status> {
    command.target.check()?;
    let loaded = sources::load(&command.source)?;
    if loaded.program.system.is_some() {
        system::check(command)?;
    }
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
    let mut natives = Vec::new();
    let mut made = output.clone();
    match &loaded.program.system {
        Some(parts) => {
            let system = system::Composed::new(&loaded.program, parts, &command.source)?;
            made = system.build()?;
            natives = system.natives();
        }
        None => {
            let object =
                drystone_compiler::compile_object(&loaded.program, &loaded.files, command.cpu.into());
            let with = &command.source.with;
            match command.target.platform {
                arguments::Platform::Linux => link(&object, &output, with)?,
                arguments::Platform::Pc => image::link(&object, &output, with, &command.target.initial)?,
            }
        }
    }
    finish(command, &made, &output, &natives)
}

/// Says whose its bytes are, if somebody asks, and takes from an image what no machine loads.
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

/// Makes an executable of a program and the crates that it is built with.
pub fn link(object: &[u8], output: &Path, crates: &[PathBuf]) -> Result<(), Status> {
    let parts = Parts::new(object, crates, Platform::Linux)?;
    let mut linker = Command::new("cc");
    linker.arg("-o").arg(output).args([&parts.program, &parts.library]);
    linker.args(["-Wl,--gc-sections", "-Wl,--strip-debug", "-lgcc_eh", "-lgcc", "-lpthread", "-lm", "-ldl"]);
    run_linker(linker, output)
}

/// What is linked.
pub struct Parts {
    /// The compiled program.
    pub program: PathBuf,
    /// What it runs on.
    pub library: PathBuf,
    /// Where both are, for as long as this is.
    pub folder: tempfile::TempDir,
}

impl Parts {
    /// Those of a program and the crates that it is built with.
    pub fn new(object: &[u8], crates: &[PathBuf], platform: Platform) -> Result<Parts, Status> {
        let folder =
            tempfile::tempdir().map_err(|error| fail(format_args!("no temporary folder: {error}")))?;
        let program = folder.path().join("program.o");
        let mut library = folder.path().join("library.a");
        let mut written = fs::write(&program, object);
        if crates.is_empty() {
            let compressed = match platform {
                Platform::Linux => LINUX,
                Platform::Pc => PC,
            };
            written = written.and_then(|()| unpack(compressed, &library));
        } else {
            library = with::library(crates, platform)?;
        }
        written.map_err(|error| fail(format_args!("{}: {error}", folder.path().display())))?;
        Ok(Parts { program, library, folder })
    }
}

/// Links, and says why if that can't be done.
pub fn run_linker(mut linker: Command, output: &Path) -> Result<(), Status> {
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

fn unpack(compressed: &[u8], to: &Path) -> io::Result<()> {
    io::copy(&mut GzDecoder::new(compressed), &mut File::create(to)?).map(drop)
}
