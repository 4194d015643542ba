//! Writes the test programs for the kernel's interpreter, and builds the user program, which is part of the kernel.

mod programs;
#[path = "../microkernel/user/build_users.rs"]
mod users;

use std::env;
use std::path::PathBuf;

fn main() {
    let written = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("programs");
    programs::write(&written);
    println!("cargo::rerun-if-changed=programs.rs");
    println!("cargo::rerun-if-changed=runs/src/interface.rs");
    println!("cargo::rerun-if-changed=../microkernel/user");
    users::build(&[("PROGRAMS", &written)]);
}
