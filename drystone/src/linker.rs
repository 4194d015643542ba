//! Linking: the parts of an executable, and the linker's command. The platform's library is the command's own, or one
//! with crates.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::library::Platform;
use crate::output::{Status, fail};
use crate::with::Found;
use crate::{own, with};

/// The inputs of the linker.
pub struct Parts {
    /// The compiled program.
    pub program: PathBuf,
    /// The platform's library.
    pub library: PathBuf,
    /// The folder of both, which is deleted with this value.
    pub folder: tempfile::TempDir,
}

impl Parts {
    /// The parts for a program and the crates that are built in.
    pub fn new(object: &[u8], crates: &[Found], platform: Platform) -> Result<Parts, Status> {
        let folder =
            tempfile::tempdir().map_err(|error| fail(format_args!("no temporary folder: {error}")))?;
        let program = folder.path().join("program.o");
        fs::write(&program, object)
            .map_err(|error| fail(format_args!("{}: {error}", folder.path().display())))?;
        let library = match crates.is_empty() {
            true => own::library(platform)?,
            false => with::library(crates, platform)?,
        };
        Ok(Parts { program, library, folder })
    }
}

/// Leaves out what unwinding needs, a third of an executable: nothing catches a panic in most processes.
/// The Rust library ends the process when it finds that it can't unwind.
pub fn leave_out_unwinding(linker: &mut Command, folder: &Path) -> Result<(), Status> {
    const LAYOUT: &str = "SECTIONS { /DISCARD/ : { *(.eh_frame) *(.gcc_except_table .gcc_except_table.*) } }\n\
                          INSERT AFTER .text;\n";
    let layout = folder.join("unwinding.ld");
    fs::write(&layout, LAYOUT).map_err(|error| fail(format_args!("{}: {error}", layout.display())))?;
    linker.arg("-Wl,--no-eh-frame-hdr").arg(format!("-Wl,-T,{}", layout.display()));
    Ok(())
}

/// Runs the linker, and shows its errors.
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
