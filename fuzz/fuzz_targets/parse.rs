//! Any bytes: the parser gives a tree and its errors, and what the formatter accepts it formats once for all.
#![no_main]

use drystone_language::format::format;
use drystone_language::parser::parse;
use drystone_language::render::{Colour, render};
use drystone_language::source::SourceFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (_, diagnostics) = parse(0, &text);
    let formatted = format(&text);
    render(&[SourceFile { path: "fuzz.dry".into(), text }], &diagnostics, Colour::Plain);
    if let Ok(formatted) = formatted {
        assert_eq!(format(&formatted).as_ref(), Ok(&formatted), "not stable");
    }
});
