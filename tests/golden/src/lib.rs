//! Golden tests: what is made of each case must be what is written in a file. Whoever runs the tests with `BLESS=1` in
//! the environment rewrites those files instead; what has changed is then seen as a difference of the repository.

mod at_once;
mod ports;
mod terminal;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub use at_once::{for_all, for_all_seeds, generated_cases};
pub use ports::free_port;
pub use terminal::terminal;

/// Says that the running test is skipped, or a part of it, and why: `./test` counts these lines. What calls it returns
/// then.
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    // Of what `eprintln!` says nothing is shown where a test passes. Nobody reads: then nobody counts.
    let _ = writeln!(io::stderr(), "{}", skipped_line(thread.name(), why));
}

/// Tests of several crates may have one name, but their binaries differ. `./test` finds what is skipped before the
/// first space.
fn skipped_line(test: Option<&str>, why: &str) -> String {
    let binary = std::env::current_exe().expect("a test is run from a file");
    let binary = binary.file_stem().unwrap_or_default().display();
    format!("skipped: {binary}::{}: {why}", test.unwrap_or("unnamed"))
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
    fn skipped_tests_are_told_apart_by_one_word() {
        for (test, name) in [(Some("tests::one"), "::tests::one"), (None, "::unnamed")] {
            let line = skipped_line(test, "no compiler: none here");
            let found =
                line.strip_prefix("skipped: ").and_then(|rest| rest.strip_suffix(": no compiler: none here"));
            let found = found.expect("a test before the reason");
            // Behind the target's name is a number that cargo gives to each.
            assert!(found.starts_with("drystone_golden-") && found.ends_with(name), "{line}");
            assert!(!found.contains(' '), "{line}");
        }
    }

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
