//! Makes the libraries that `drystone build` links into every executable or image (platform, runtime and `main`), so that the
//! command carries them along and needs no installation beside it.
//!
//! Cargo runs once more inside, in the folder where `--with` has libraries made, too.

// No crates are built in here.
#[allow(dead_code)]
#[path = "src/library.rs"]
mod library;

use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use library::{Package, Platform};

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
    "kortex/build.rs",
    "kortex/src",
    "kortex/hal/Cargo.toml",
    "kortex/hal/src",
    "kortex/memory/Cargo.toml",
    "kortex/memory/src",
    "kortex/resource/Cargo.toml",
    "kortex/resource/src",
    "kortex/thread/Cargo.toml",
    "kortex/thread/src",
    "kortex/binding/Cargo.toml",
    "kortex/binding/src",
    "extension/Cargo.toml",
    "extension/src",
    "stubs/Cargo.toml",
    "stubs/src",
    "platform/linux/Cargo.toml",
    "platform/linux/src",
    "platform/linux/handlers/Cargo.toml",
    "platform/linux/handlers/src",
    "platform/linux/process/Cargo.toml",
    "platform/linux/process/src",
    "platform/pc/Cargo.toml",
    "platform/pc/src",
    "platform/pc/machine/Cargo.toml",
    "platform/pc/machine/src",
    "platform/pc/calls/Cargo.toml",
    "platform/pc/calls/src",
    "platform/pc/user/Cargo.toml",
    "platform/pc/user/src",
];

fn main() {
    // Asked for when it runs: compiled, this file may have come from another checkout with what else is in `target`.
    let package = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let workspace = package.parent().expect("the package is in a folder");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={}", workspace.join(source).display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/library.rs");
    println!("cargo::rustc-env=DRYSTONE_TRIPLE={}", variable("TARGET"));
    let out = PathBuf::from(variable("OUT_DIR"));
    // `OUT_DIR` is `TARGET/release/build/PACKAGE/out`.
    let target = out.ancestors().nth(4).expect("Cargo's folders lie so deep").join("drystone");
    for platform in [Platform::Linux, Platform::Pc, Platform::User, Platform::Process] {
        let package = Package { name: platform.library(), platform, root: workspace, crates: &[] };
        let library = make(&package, &target).unwrap_or_else(|error| panic!("{}: {error}", target.display()));
        compress(&library, &out.join(format!("lib{}.a.gz", platform.library())));
    }
}

/// Builds the library. The command doesn't need all that a machine's does: where nothing else has been built, Cargo gets it now.
fn make(package: &Package, target: &Path) -> std::io::Result<PathBuf> {
    let triple = variable("TARGET");
    package.write(target)?;
    let mut cargo = package.command(&variable("CARGO"), target, &triple);
    assert!(cargo.status()?.success(), "the library of `drystone build` could not be made");
    Ok(package.library(target, &triple))
}

fn compress(from: &Path, to: &Path) {
    let mut library = File::open(from).expect("the library was made");
    let compressed = File::create(to).expect("the build folder can be written");
    let mut encoder = GzEncoder::new(compressed, Compression::default());
    std::io::copy(&mut library, &mut encoder).expect("the library can be compressed");
    encoder.finish().expect("the library can be compressed");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
