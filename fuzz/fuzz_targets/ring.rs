//! Another domain that writes what it likes into the memory between it and this one.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drystone_kortex::domain::strangers::talk(bytes));
