//! Links the user program at user addresses.

fn main() {
    let here = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    println!("cargo::rerun-if-changed=../../microkernel/user/user.ld");
    // The folder of the programs that kernel or server run.
    println!("cargo::rerun-if-env-changed=PROGRAMS");
    println!("cargo::rustc-link-arg=-T{here}/../../microkernel/user/user.ld");
    println!("cargo::rustc-link-arg=--gc-sections");
    println!("cargo::rustc-link-arg=-zmax-page-size=4096");
    println!("cargo::rustc-link-arg=--strip-all");
}
