//! Links the user program at user addresses.

fn main() {
    let here = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    println!("cargo::rerun-if-changed=user.ld");
    println!("cargo::rustc-link-arg=-T{here}/user.ld");
    println!("cargo::rustc-link-arg=--gc-sections");
    println!("cargo::rustc-link-arg=-zmax-page-size=4096");
    println!("cargo::rustc-link-arg=--strip-all");
}
