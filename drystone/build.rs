//! Tells the command of which sources it is, and puts the libraries into a released one that `drystone build` links into programs
//! (platform, runtime and `main`), so that it needs nothing beside it.
//!
//! `./release` says by `DRYSTONE_LIBRARIES` in which folder they are. Without that they are made when they are first needed
//! (`src/own.rs`).

#[path = "src/origin.rs"]
mod origin;

use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() {
    // Asked for when it runs: compiled, this file may have come from another checkout with what else is in `target`.
    let package = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let workspace = package.parent().expect("the package is in a folder");
    for source in origin::SOURCES {
        println!("cargo::rerun-if-changed={}", workspace.join(source).display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/origin.rs");
    println!("cargo::rerun-if-env-changed=DRYSTONE_LIBRARIES");
    println!("cargo::rustc-check-cfg=cfg(carried)");
    let fingerprint = origin::fingerprint(workspace).expect("the sources can be read");
    let out = PathBuf::from(variable("OUT_DIR"));
    // `OUT_DIR` is `TARGET/release/build/PACKAGE/out`.
    let target = out.ancestors().nth(4).expect("Cargo's folders lie so deep");
    println!("cargo::rustc-env=DRYSTONE_FINGERPRINT={fingerprint:x}");
    println!("cargo::rustc-env=DRYSTONE_CHECKOUT={}", workspace.display());
    println!("cargo::rustc-env=DRYSTONE_TARGET={}", target.display());
    if let Ok(libraries) = env::var("DRYSTONE_LIBRARIES") {
        println!("cargo::rustc-cfg=carried");
        println!("cargo::rerun-if-changed={libraries}");
        for library in origin::LIBRARIES {
            let from = Path::new(&libraries).join(format!("{library}.a"));
            compress(&from, &out.join(format!("{library}.a.gz")))
                .unwrap_or_else(|error| panic!("{}: {error}", from.display()));
        }
    }
}

fn compress(from: &Path, to: &Path) -> io::Result<()> {
    let mut encoder = GzEncoder::new(File::create(to)?, Compression::best());
    io::copy(&mut fs::File::open(from)?, &mut encoder)?;
    encoder.finish().map(drop)
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
