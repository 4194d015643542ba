//! For build scripts of kernels: builds the user program in the folder `user`, and sets `USER` to its path, so that the
//! kernel can include it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds it with additional environment variables.
pub fn build(environment: &[(&str, &Path)]) {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let target = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("user");
    let mut cargo = Command::new(env::var_os("CARGO").expect("cargo sets it"));
    cargo.args(["build", "--release", "--target-dir"]).arg(&target).current_dir(here.join("user"));
    cargo.envs(environment.iter().copied());
    for name in ["CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS", "CARGO_TARGET_DIR"] {
        cargo.env_remove(name);
    }
    assert!(cargo.status().is_ok_and(|status| status.success()), "the users' program could not be built");
    println!("cargo::rerun-if-changed=user");
    println!("cargo::rustc-env=USER={}", target.join("x86_64-unknown-none/release/user").display());
}
