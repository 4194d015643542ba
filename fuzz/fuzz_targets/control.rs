//! A request to a program that is looked at and changed while it runs.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drystone_linux::bindings::decoders::control(bytes));
