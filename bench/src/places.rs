//! Where things are in the repository and in the build.

use std::env;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the bench is a folder of the repository")
}

/// This program.
pub fn executable() -> PathBuf {
    env::current_exe().expect("the system knows what runs")
}

/// Where peers are built: beside the folder of this program.
pub fn peers() -> PathBuf {
    let executable = executable();
    executable.parent().and_then(Path::parent).expect("cargo builds in target/PROFILE").join("peers")
}
