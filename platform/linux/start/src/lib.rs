//! The `main` function of an executable that the compiler's object file is linked into: see `drystone_linux::start`.
//!
//! # Soundness
//!
//! The C runtime calls `main` once, with `argc` arguments that are strings and live as long as the process; the
//! object file defines `ds_program` as a `Program`, and `ds_processor` as a string that ends with a 0.

use std::ffi::{c_char, c_int};

use drystone_component::Program;

unsafe extern "C" {
    /// The compiled program.
    static ds_program: Program;
    /// What a processor must have to run it, as a string.
    static ds_processor: c_char;
}

/// Runs the program.
///
/// # Safety
/// For the C runtime only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn main(argc: c_int, argv: *const *const c_char) -> c_int {
    // SAFETY: see the head of this file.
    unsafe { drystone_linux::start(argc, argv, &ds_program, &raw const ds_processor, &[]) }
}
