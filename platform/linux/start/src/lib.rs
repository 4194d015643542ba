//! The `main` function of an executable that the compiler's object file is linked into. All arguments are the
//! program's; how it runs is set by environment variables: `DRYSTONE_CORES` (number of workers), `DRYSTONE_MEMORY`
//! (bytes, or with K, M or G), `DRYSTONE_STATS` (not empty: figures about the run on standard error),
//! `DRYSTONE_GRAPHICS` (where the picture is saved).
//!
//! # Soundness
//!
//! The C runtime calls `main` once, with `argc` arguments that are strings and live as long as the process; the
//! object file defines `ds_program` as a `Program`, and `ds_processor` as a string that ends with a 0.

use std::env;
use std::ffi::{CStr, c_char, c_int};

use drystone_component::Program;
use drystone_linux::Options;

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
    let needed = unsafe { CStr::from_ptr(&raw const ds_processor) }.to_str().unwrap_or_default();
    let missing = drystone_linux::processor::missing(needed);
    if !missing.is_empty() {
        eprintln!("error: this processor has no {}, which the executable was built for", missing.join(", "));
        eprintln!("  = help: build it for older ones: drystone build --cpu v2");
        return 1;
    }
    let argument = |i: usize| {
        // SAFETY: see the head of this file.
        unsafe { CStr::from_ptr(*argv.add(i)).to_bytes().to_vec() }
    };
    let options = Options {
        arguments: (1..argc as usize).map(argument).collect(),
        cores: number("DRYSTONE_CORES"),
        memory: number("DRYSTONE_MEMORY"),
        stats: !setting("DRYSTONE_STATS").is_empty(),
        graphics: Some(setting("DRYSTONE_GRAPHICS")).filter(|path| !path.is_empty()).map(Into::into),
        ..Options::default()
    };
    // SAFETY: see the head of this file.
    drystone_linux::run(unsafe { &ds_program }, options)
}

fn setting(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// A setting that is a number; 0, which leaves the choice to the system, if there is none.
fn number(name: &str) -> usize {
    let text = setting(name);
    if text.is_empty() {
        return 0;
    }
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 1 << 10),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 1 << 20),
        Some(b'G' | b'g') => (&text[..text.len() - 1], 1 << 30),
        _ => (&text[..], 1),
    };
    match digits.parse::<usize>() {
        Ok(n) => n.saturating_mul(unit),
        Err(_) => {
            eprintln!("error: {name}={text}: not a number");
            std::process::exit(2)
        }
    }
}
