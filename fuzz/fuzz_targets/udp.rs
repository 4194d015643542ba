//! A stranger who sends datagrams to a server or a client by UDP.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drystone_linux::bindings::decoders::udp(bytes));
