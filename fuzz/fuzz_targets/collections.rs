//! Whatever is done to a collection, it does what a `BTreeMap` does.

#![no_main]

#[path = "../../runtime/tests/suite/collections/model.rs"]
mod model;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| model::run(bytes));
