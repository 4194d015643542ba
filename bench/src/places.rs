//! Paths in the repository and in the build.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the bench is a folder of the repository")
}

/// The folder of the guard's kernels and their record.
pub fn kernels() -> PathBuf {
    root().join("bench/kernels")
}

/// This executable.
pub fn executable() -> PathBuf {
    env::current_exe().expect("the system knows what runs")
}

/// The folder where peers are built, beside this executable's.
pub fn peers() -> PathBuf {
    target().join("peers")
}

/// The command `drystone`, in release: `DRYSTONE_BIN`, or else built now, so that it is up to date.
pub fn drystone() -> Result<PathBuf, String> {
    match env::var_os("DRYSTONE_BIN") {
        Some(path) => Ok(path.into()),
        None => built("drystone"),
    }
}

/// A package's command of the same name, built now in release.
pub fn built(package: &str) -> Result<PathBuf, String> {
    build(package, &[])?;
    Ok(target().join("release").join(package))
}

/// A package's example, likewise.
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

/// Cargo's target folder of this executable.
pub fn target() -> PathBuf {
    let executable = executable();
    executable.parent().and_then(Path::parent).expect("cargo builds in target/PROFILE").into()
}
