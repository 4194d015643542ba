//! Where things are in the repository and in the build.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the bench is a folder of the repository")
}

/// The programs whose instructions are counted, with the record of them.
pub fn kernels() -> PathBuf {
    root().join("bench/kernels")
}

/// This program.
pub fn executable() -> PathBuf {
    env::current_exe().expect("the system knows what runs")
}

/// Where peers are built: beside the folder of this program.
pub fn peers() -> PathBuf {
    target().join("peers")
}

/// The command `drystone`, released: `DRYSTONE_BIN`, else what is built here and now, so that it is never an old one.
pub fn drystone() -> Result<PathBuf, String> {
    match env::var_os("DRYSTONE_BIN") {
        Some(path) => Ok(path.into()),
        None => built("drystone"),
    }
}

/// A package's command of the same name, released, as it is now.
pub fn built(package: &str) -> Result<PathBuf, String> {
    build(package, &[])?;
    Ok(target().join("release").join(package))
}

/// One of a package's examples, likewise.
pub fn example(package: &str, name: &str) -> Result<PathBuf, String> {
    build(package, &["--example", name])?;
    Ok(target().join("release/examples").join(name))
}

fn build(package: &str, what: &[&str]) -> Result<(), String> {
    let mut cargo = Command::new("cargo");
    cargo
        .args(["build", "--locked", "--release", "-p", package])
        .args(what)
        .arg("--target-dir")
        .arg(target());
    match cargo.current_dir(root()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{package} could not be built: {status}")),
        Err(error) => Err(format!("{package} could not be built: cargo: {error}")),
    }
}

/// Cargo's folder, where this program was built.
pub fn target() -> PathBuf {
    let executable = executable();
    executable.parent().and_then(Path::parent).expect("cargo builds in target/PROFILE").into()
}
