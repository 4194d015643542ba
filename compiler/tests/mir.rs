//! Golden tests: `mir/*.dry` holds a small program, the `.mir` beside it what is made of it before emission.
//! `BLESS=1 cargo test` rewrites the expectations. `mir/library/` is what some of them import.

use std::fs;
use std::path::{Path, PathBuf};

use drystone_compiler::mir;
use drystone_golden as golden;
use drystone_language::check::{Options, check};
use drystone_language::imports;
use drystone_language::render::{Colour, render};
use drystone_language::source::SourceFile;

#[test]
fn every_program_becomes_what_is_expected() {
    golden::compare(&golden::cases(&folder(), "dry"), "mir", lowered);
}

/// What becomes of a program, which may import others.
fn lowered(case: &Path) -> String {
    let name = case.file_name().expect("a case is a file").to_string_lossy().into_owned();
    let own = SourceFile { path: name, text: golden::read(case) };
    let files = imports::load(vec![own], |path| fs::read_to_string(folder().join("library").join(path)).ok());
    match check(&files, Options::default()) {
        Ok(program) => mir(&program, &files),
        Err(errors) => panic!("{}", render(&files, &errors, Colour::Plain)),
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mir")
}
