//! Lays the program out at users' addresses.

fn main() {
    let here = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    println!("cargo::rerun-if-changed=../../microkernel/user/user.ld");
    // Where the programs are that are for others to run.
    println!("cargo::rerun-if-env-changed=PROGRAMS");
    println!("cargo::rustc-link-arg=-T{here}/../../microkernel/user/user.ld");
    println!("cargo::rustc-link-arg=--gc-sections");
    println!("cargo::rustc-link-arg=-zmax-page-size=4096");
    println!("cargo::rustc-link-arg=--strip-all");
}
