//! The start of an executable. Environment variables set how it runs: `DRYSTONE_CORES` (number of workers),
//! `DRYSTONE_MEMORY` (bytes, such as `200M`), `DRYSTONE_STATS` (not empty: figures about the run on standard error),
//! `DRYSTONE_GRAPHICS` (where the picture is saved), `DRYSTONE_CONTROL` (a socket to inspect and change it),
//! `DRYSTONE_SOURCE` (a directory for files that the current one doesn't have). All arguments are the program's.
//!
//! # Soundness
//!
//! The caller of [`start`] passes on what the C runtime and the linker have given.

use std::env;
use std::ffi::{CStr, c_char, c_int};

use drystone_component::{Program, size};

use crate::{Addition, Options, processor};

/// The body of `main` in an executable that is built from the compiler's object file. Returns the process's exit
/// status.
///
/// # Safety
/// `argc` and `argv` are those of `main`. `needed` is a zero-terminated string with the processor's features that the
/// program needs.
pub unsafe fn start(
    argc: c_int,
    argv: *const *const c_char,
    program: &'static Program,
    needed: *const c_char,
    additions: &'static [&'static Addition],
) -> c_int {
    // SAFETY: the caller promises that `needed` is a zero-terminated string.
    let needed = unsafe { CStr::from_ptr(needed) }.to_str().unwrap_or_default();
    let missing = processor::missing(needed);
    if !missing.is_empty() {
        eprintln!("error: this processor has no {}, which the executable was built for", missing.join(", "));
        eprintln!("  = help: build it for older ones: drystone build --cpu v2");
        return 1;
    }
    let argument = |i: usize| {
        // SAFETY: the caller promises that `argv` is that of `main`, so it has zero-terminated strings.
        unsafe { CStr::from_ptr(*argv.add(i)).to_bytes().to_vec() }
    };
    let path = |name| Some(setting(name)).filter(|path| !path.is_empty()).map(Into::into);
    let options = Options {
        arguments: (1..argc as usize).map(argument).collect(),
        cores: number("DRYSTONE_CORES", |text| text.parse().ok()),
        memory: number("DRYSTONE_MEMORY", size::bytes),
        stats: !setting("DRYSTONE_STATS").is_empty(),
        graphics: path("DRYSTONE_GRAPHICS"),
        control: path("DRYSTONE_CONTROL"),
        source_directory: path("DRYSTONE_SOURCE"),
        additions,
        ..Options::default()
    };
    crate::run(program, options)
}

fn setting(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// A setting that is a number. The default is 0, which leaves the choice to the system.
fn number(name: &str, read: impl FnOnce(&str) -> Option<usize>) -> usize {
    let text = setting(name);
    if text.is_empty() {
        return 0;
    }
    read(&text).unwrap_or_else(|| {
        eprintln!("error: {name}={text}: not a number");
        std::process::exit(2)
    })
}
