//! Golden tests: what is made of each case must be what is written in a file. Whoever runs the tests with `BLESS=1` in the
//! environment rewrites those files instead; what has changed is then seen as a difference of the repository.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Says that the running test is skipped, or a part of it, and why: `./test` counts these lines. What calls it returns then.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // Of what `eprintln!` says nothing is shown where a test passes. Nobody reads: then nobody counts.
    let _ = writeln!(io::stderr(), "skipped: {test}: {why}");
}

/// The files of a folder that have this extension, in order. Fails if there are none.
#[track_caller]
pub fn cases(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut cases: Vec<PathBuf> =
        entries.map(|entry| entry.expect("an entry of the folder").path()).collect();
    cases.retain(|path| path.extension().is_some_and(|found| found == extension));
    cases.sort();
    assert!(!cases.is_empty(), "no cases in {}", folder.display());
    cases
}

/// The text of a file. Fails if it can't be read.
#[track_caller]
pub fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compares what `make` makes of each case with the file beside it that has the given extension. Fails with all
/// differences at once.
#[track_caller]
pub fn compare(cases: &[PathBuf], extension: &str, make: impl Fn(&Path) -> String) {
    let differences: Vec<String> =
        cases.iter().filter_map(|case| check(&case.with_extension(extension), &make(case)).err()).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Compares a text with a file, which is empty if it isn't there. The error says where they differ.
pub fn check(expectation: &Path, actual: &str) -> Result<(), String> {
    if std::env::var_os("BLESS").is_some() {
        return fs::write(expectation, actual).map_err(|error| format!("{}: {error}", expectation.display()));
    }
    let expected = fs::read_to_string(expectation).unwrap_or_default();
    same(&expected, actual).map_err(|differs| format!("{}: {differs}", expectation.display()))
}

fn same(expected: &str, actual: &str) -> Result<(), String> {
    if expected == actual {
        return Ok(());
    }
    let equal =
        expected.lines().zip(actual.lines()).take_while(|(expected, actual)| expected == actual).count();
    Err(format!("differs from line {} on (BLESS=1 accepts it); it is now\n{actual}", equal + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_told() {
        assert_eq!(same("a\nb\n", "a\nb\n"), Ok(()));
        for (expected, actual, line) in [("a\nb\n", "a\nc\n", 2), ("a\n", "a\nb\n", 2), ("", "a\n", 1)] {
            let said = same(expected, actual).expect_err("another text");
            assert!(said.contains(&format!("from line {line} on")) && said.ends_with(actual), "{said}");
        }
        assert!(same("a", "a\n").is_err());
    }

    #[test]
    fn cases_are_the_files_of_one_kind() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(cases(folder, "toml"), [folder.join("Cargo.toml")]);
    }
}
