//! Golden tests. `errors/<code>.dry` is a small invalid program, and `errors/<code>.expected` its diagnostics. Further
//! cases of one code are `errors/<code>.<case>.dry`. A line `(* FILE Name.dry *)` begins another file of the program,
//! and one like `(* FILE words/Name.dry *)` a file of the package `words`, which the program depends on.
//! `format/*.dry` is source text in any layout, and its `.expected` the formatter's layout. `BLESS=1 cargo test`
//! rewrites the expectations.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use drystone_golden as golden;
use drystone_language::check::{self, Options};
use drystone_language::format;
use drystone_language::imports::{Package, Packages};
use drystone_language::render::{Colour, render};
use drystone_language::source::{Diagnostic, SourceFile};

#[test]
fn every_invalid_program_is_refused_as_expected() {
    compare("errors", |path, text| {
        let shown = format!("errors/{}", path.file_name().unwrap_or_default().to_string_lossy());
        let files = files_of(&shown, text);
        let diagnostics = errors_of(&files);
        let code = code_of(path);
        let reported: Vec<_> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        assert!(reported.contains(&code.as_str()), "{}: reports {reported:?} only", path.display());
        render(&files, &diagnostics, Colour::Plain)
    });
}

#[test]
fn the_formatter_lays_out_as_expected_and_only_once() {
    compare("format", |path, text| {
        let formatted =
            format::format(text).unwrap_or_else(|errors| panic!("{}: {errors:?}", path.display()));
        assert_eq!(format::format(&formatted).as_ref(), Ok(&formatted), "{}: not stable", path.display());
        formatted
    });
}

#[test]
fn every_error_code_of_the_source_has_a_case() {
    let mut codes = BTreeSet::new();
    collect_codes(&folder("src"), &mut codes);
    let cases: BTreeSet<_> = cases("errors").iter().map(|path| code_of(path)).collect();
    let missing: Vec<_> = codes.difference(&cases).collect();
    assert!(missing.is_empty(), "no tests/errors/<code>.dry for {missing:?}");
    let stale: Vec<_> = cases.difference(&codes).collect();
    assert!(stale.is_empty(), "no such error code any more: {stale:?}");
}

/// The case's own file, and the others that its text holds.
fn files_of(shown: &str, text: &str) -> Vec<SourceFile> {
    let mut parts = text.split("(* FILE ");
    let own = SourceFile { path: shown.into(), text: parts.next().unwrap_or_default().into() };
    let others = parts.map(|part| {
        let (name, text) = part.split_once(" *)\n").expect("the name of a file");
        SourceFile { path: format!("errors/{name}"), text: text.into() }
    });
    std::iter::once(own).chain(others).collect()
}

/// What the compiler says about a program.
fn errors_of(files: &[SourceFile]) -> Vec<Diagnostic> {
    let packages = packages_of(files);
    check::check(files, Options::default().packages(&packages))
        .map_or_else(|errors| errors, |program| program.warnings)
}

/// The packages of a case: none if all its files lie in one folder.
fn packages_of(files: &[SourceFile]) -> Packages {
    let others = files.iter().filter_map(|file| file.path.strip_prefix("errors/")?.split_once('/'));
    let others: BTreeSet<_> = others.map(|(package, _)| package).collect();
    if others.is_empty() {
        return Packages::default();
    }
    let package = |name: &str, folder: String| Package {
        name: name.into(),
        files: folder.clone(),
        folder,
        dependencies: Vec::new(),
    };
    let mut own = package("program", "errors".into());
    own.dependencies = (1..=others.len()).collect();
    let others = others.into_iter().map(|name| package(name, format!("errors/{name}")));
    Packages::new(std::iter::once(own).chain(others).collect())
}

/// Compares what `make` makes of each case, given its text too, with the expectation beside it.
fn compare(name: &str, make: impl Fn(&Path, &str) -> String) {
    golden::compare(&cases(name), "expected", |case| make(case, &golden::read(case)));
}

fn cases(name: &str) -> Vec<PathBuf> {
    golden::cases(&folder("tests").join(name), "dry")
}

/// The part of a case's file name before the first point.
fn code_of(case: &Path) -> String {
    let name = case.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_string()
}

/// All literal codes given to `Diagnostic::new` in a folder of Rust sources.
fn collect_codes(folder: &Path, codes: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry of the folder").path();
        if path.is_dir() {
            collect_codes(&path, codes);
        } else {
            let text = golden::read(&path);
            let text = text.replace("Diagnostic::warning(", "Diagnostic::new(");
            let calls = text.split("Diagnostic::new(").skip(1);
            let literals = calls.filter_map(|call| call.trim_start().strip_prefix('"'));
            codes.extend(literals.filter_map(|literal| literal.split('"').next()).map(str::to_string));
        }
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}
