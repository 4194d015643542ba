//! A stranger who sends messages by HTTP.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drystone_linux::bindings::decoders::json(bytes));
