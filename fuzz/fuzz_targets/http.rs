//! A stranger whose browser asks by GET, or talks by a WebSocket.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drystone_linux::bindings::decoders::http(bytes));
