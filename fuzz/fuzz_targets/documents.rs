//! A stranger whose document a program reads: all of it must be as `serde_json` has it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drystone_library::json::compare(bytes));
