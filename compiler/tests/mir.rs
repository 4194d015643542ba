//! Golden tests: `mir/*.dry` holds a small program, the `.mir` beside it what is made of it before emission.
//! `BLESS=1 cargo test` rewrites the expectations. `mir/library/` is what some of them import.

use std::fs;
use std::path::{Path, PathBuf};

use drystone_compiler::mir;
use drystone_language::check::check;
use drystone_language::imports;
use drystone_language::render::{Colour, render};
use drystone_language::source::SourceFile;

#[test]
fn every_program_becomes_what_is_expected() {
    let mut differences = String::new();
    for case in cases() {
        let actual = lowered(&case);
        let expectation = case.with_extension("mir");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&expectation, actual).expect("the expectation can be written");
            continue;
        }
        let expected = fs::read_to_string(&expectation).unwrap_or_default();
        if actual != expected {
            let case = case.display();
            differences += &format!("=== {case}\n--- expected\n{expected}\n--- actual\n{actual}\n");
        }
    }
    assert!(differences.is_empty(), "BLESS=1 accepts these differences:\n{differences}");
}

/// What becomes of a program, which may import others.
fn lowered(case: &Path) -> String {
    let name = case.file_name().expect("a case is a file").to_string_lossy().into_owned();
    let own = SourceFile { path: name, text: read(case) };
    let files = imports::load(vec![own], |path| fs::read_to_string(folder().join("library").join(path)).ok());
    match check(&files) {
        Ok(program) => mir(&program, &files),
        Err(errors) => panic!("{}", render(&files, &errors, Colour::Plain)),
    }
}

fn cases() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).expect("the folder of cases");
    let paths = entries.map(|entry| entry.expect("an entry of the folder").path());
    let mut cases: Vec<_> = paths.filter(|path| path.extension().is_some_and(|end| end == "dry")).collect();
    cases.sort();
    cases
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mir")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
