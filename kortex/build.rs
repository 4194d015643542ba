//! Makes the Rust side of the system's interfaces from their declarations in the component language.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    drystone_stubs::build_system();
}
