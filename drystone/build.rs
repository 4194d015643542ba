//! Makes the library that `drystone build` links into every executable (platform, runtime and `main`), so that the
//! command carries it along and needs no installation beside it.
//!
//! Cargo runs once more inside, over the same workspace and lock file, in a target directory of its own.

use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

/// What the library is made of, from the workspace's root.
const SOURCES: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "component/Cargo.toml",
    "component/src",
    "language/Cargo.toml",
    "language/src",
    "runtime/Cargo.toml",
    "runtime/src",
    "kortex/Cargo.toml",
    "kortex/src",
    "extension/Cargo.toml",
    "extension/src",
    "stubs/Cargo.toml",
    "stubs/src",
    "platform/linux/Cargo.toml",
    "platform/linux/build.rs",
    "platform/linux/src",
    "platform/linux/start",
];

fn main() {
    // Asked for when it runs: compiled, this file may have come from another checkout with what else is in `target`.
    let package = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let workspace = package.parent().expect("the package is in a folder");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", workspace.join(source).display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(variable("OUT_DIR"));
    let target = out.join("start");
    let triple = variable("TARGET");
    make(workspace, &target, &triple);
    let library = target.join(triple).join("release/libdrystone_start.a");
    compress(&library, &out.join("libdrystone_start.a.gz"));
}

/// Builds the library. Everything it needs, the command needs too: it has been downloaded already.
fn make(workspace: &Path, target: &Path, triple: &str) {
    let mut cargo = Command::new(variable("CARGO"));
    cargo.args([
        "build",
        "--package",
        "drystone-start",
        "--release",
        "--frozen",
        "--target",
        triple,
        "--target-dir",
    ]);
    cargo.arg(target).current_dir(workspace);
    // Executables are stripped, and most of the library is not theirs: as little of it as possible is carried along.
    cargo.env("CARGO_PROFILE_RELEASE_DEBUG", "false").env("CARGO_PROFILE_RELEASE_LTO", "fat");
    // Nothing in an executable catches a panic, and tables for unwinding are a third of it.
    cargo.env("CARGO_PROFILE_RELEASE_PANIC", "abort").env("CARGO_PROFILE_RELEASE_INCREMENTAL", "false");
    // What is meant for the build around this one: instrumentation, lints.
    for name in ["CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER", "CARGO_TARGET_DIR"] {
        cargo.env_remove(name);
    }
    let status = cargo.status().expect("cargo runs");
    assert!(status.success(), "the library of `drystone build` could not be made");
}

fn compress(from: &Path, to: &Path) {
    let mut library = File::open(from).expect("the library was made");
    let compressed = File::create(to).expect("the build folder can be written");
    let mut encoder = GzEncoder::new(compressed, Compression::best());
    std::io::copy(&mut library, &mut encoder).expect("the library can be compressed");
    encoder.finish().expect("the library can be compressed");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
