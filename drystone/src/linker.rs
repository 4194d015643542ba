//! What programs are linked of, and the linker: the platform's library is that which the command carries along (made by `build.rs`), or
//! one with crates.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;

use crate::library::Platform;
use crate::{Status, fail, with};

/// Platform, runtime and `main` for the program's object file.
static LINUX: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libdrystone-start.a.gz"));
/// The same for an image.
static PC: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libdrystone-image.a.gz"));
/// The same for domains of an image.
static USER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libdrystone-domain.a.gz"));
/// The machine for an image that is a process.
static PROCESS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libdrystone-machine-process.a.gz"));

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
                Platform::User => USER,
                Platform::Process => PROCESS,
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
pub fn run(mut linker: Command, output: &Path) -> Result<(), Status> {
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
