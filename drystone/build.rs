//! Tells the command which sources it is built from and where they are: `drystone build` links libraries made of the
//! same sources into programs (`src/own.rs`).

#[path = "src/origin.rs"]
mod origin;

use std::env;
use std::path::PathBuf;

fn main() {
    // Asked for at run time: this build script may have been compiled in another checkout that shares `target`.
    let package = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let workspace = package.parent().expect("the package is in a folder");
    for source in origin::SOURCES {
        println!("cargo::rerun-if-changed={}", workspace.join(source).display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/origin.rs");
    let fingerprint = origin::fingerprint(workspace).expect("the sources can be read");
    let out = PathBuf::from(variable("OUT_DIR"));
    // `OUT_DIR` is `TARGET/release/build/PACKAGE/out`.
    let target = out.ancestors().nth(4).expect("Cargo's folders lie so deep");
    println!("cargo::rustc-env=DRYSTONE_FINGERPRINT={fingerprint:x}");
    println!("cargo::rustc-env=DRYSTONE_CHECKOUT={}", workspace.display());
    println!("cargo::rustc-env=DRYSTONE_TARGET={}", target.display());
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}
