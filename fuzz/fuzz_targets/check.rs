//! Any bytes: they are a program or they are refused, with errors that can be shown.
#![no_main]

use drystone_language::check::{Options, check};
use drystone_language::render::{Colour, render};
use drystone_language::source::SourceFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let files = [SourceFile { path: "fuzz.dry".into(), text: String::from_utf8_lossy(bytes).into_owned() }];
    if let Err(diagnostics) = check(&files, Options::default()) {
        assert!(!diagnostics.is_empty(), "refused without a reason");
        render(&files, &diagnostics, Colour::Plain);
    }
});
