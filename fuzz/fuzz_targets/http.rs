//! A stranger whose browser asks by GET, or talks by a WebSocket; header fields that a program makes of a stranger's
//! texts; and paths that are compared with patterns.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    drystone_linux::bindings::decoders::http(bytes);
    drystone_library::http::compare(bytes);
});
