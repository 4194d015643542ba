//! A stranger who talks to a server or a client of ONC RPC.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drystone_linux::bindings::decoders::onc(bytes));
