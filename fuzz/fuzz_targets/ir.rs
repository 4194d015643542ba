//! Any text is LLVM IR that is read, printed and linked, or it is refused.

#![no_main]

#[path = "../../specialise/tests/suite/torn/any.rs"]
mod any;

libfuzzer_sys::fuzz_target!(|text: &str| any::check(text));
