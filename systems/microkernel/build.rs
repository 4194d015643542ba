//! Builds the users' program, which is in the kernel.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    println!("cargo::rerun-if-changed=user");
    println!("cargo::rustc-env=USER={}", user(&here).display());
}

/// Builds the users' program; where it is.
fn user(here: &Path) -> PathBuf {
    let target = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("user");
    let mut cargo = Command::new(env::var_os("CARGO").expect("cargo sets it"));
    cargo.args(["build", "--release", "--target-dir"]).arg(&target).current_dir(here.join("user"));
    for name in ["CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS", "CARGO_TARGET_DIR"] {
        cargo.env_remove(name);
    }
    assert!(cargo.status().is_ok_and(|status| status.success()), "the users' program could not be built");
    target.join("x86_64-unknown-none/release/user")
}
