//! `drystone specialise` is a program of its own, `drystone-specialise`: it takes long to compile and shares nothing
//! with the command. A released command has it beside itself. One in a checkout has Cargo make it when it is first
//! needed.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::output::{Status, fail};
use crate::{cargo, own};

/// The program, and the package that it is made of.
const SPECIALISER: &str = "drystone-specialise";
const PLATFORM: &str = "drystone-linux";

/// Becomes the specialiser.
pub fn specialise(arguments: &[OsString]) -> Status {
    match place() {
        Ok(tool) => {
            let error = Command::new(&tool).args(arguments).exec();
            fail(format_args!("{} can't be run: {error}", tool.display()))
        }
        Err(status) => status,
    }
}

fn place() -> Result<PathBuf, Status> {
    if own::installed().is_some() {
        let command = env::current_exe();
        let command = command.map_err(|error| fail(format_args!("where this command is: {error}")))?;
        return Ok(command.with_file_name(SPECIALISER));
    }
    let target = Path::new(own::TARGET);
    let mut command = cargo::command();
    // With the platform, because what they have in common has then the features with which it was compiled for this
    // command.
    command.current_dir(own::CHECKOUT).args(["build", "--release", "--locked"]);
    command.args(["-p", PLATFORM, "-p", SPECIALISER]);
    command.arg("--target-dir").arg(target);
    cargo::build(command, "drystone specialise", "building the specialiser, once").map_err(fail)?;
    Ok(target.join("release").join(SPECIALISER))
}
