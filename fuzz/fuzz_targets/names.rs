//! A name and what BY says of it.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drystone_linux::bindings::decoders::names(bytes));
