//! The conformance suite of the language: `semantics/NAME.dry` must do what `NAME.expected` says, each named for
//! the section and the rule of the language reference that it shows. The interpreter runs them with several
//! buffer capacities and schedules, the compiled system (where there is one) on one and two cores. What has no number is
//! imported by others.

mod compiled;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use drystone_emulated::emulator;
use drystone_language::check::check;
use drystone_language::imports;
use drystone_language::source::SourceFile;
use drystone_tests::expected;
use drystone_tests::reference::{self, Options};

/// Programs that write files must not run in both tests at the same time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn the_interpreter_does_what_the_reference_says() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut failures = Vec::new();
    for path in programs() {
        let files = sources(&path);
        let wanted = std::fs::read_to_string(path.with_extension("expected")).expect("an .expected file");
        let program = match check(&files) {
            Ok(program) => program,
            Err(errors) => {
                failures.push(format!("{}: does not compile: {errors:?}", files[0].path));
                continue;
            }
        };
        for (seed, capacity) in [(0, 1), (1, 4), (2, 1000), (3, 1), (4, 1), (5, 4)] {
            let options = Options { seed, capacity, max_steps: 3_000_000, ..Options::default() };
            let outcome = reference::run(&program, &options);
            let found = expected::of_interpreter(&outcome, &files);
            if found != wanted {
                failures.push(format!("{}, seed {seed}, capacity {capacity}:\n{found}", files[0].path));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_compiled_system_does_what_the_reference_says() {
    let Some(drystone) = compiled::Drystone::find() else {
        drystone_golden::skipped("no drystone binary (set DRYSTONE_BIN)");
        return;
    };
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut failures = Vec::new();
    for path in programs() {
        let wanted = std::fs::read_to_string(path.with_extension("expected")).expect("an .expected file");
        for cores in ["1", "2"] {
            let found = drystone.run(&path, &["--cores", cores]);
            if found != wanted {
                failures.push(format!("{}, {cores} cores:\n{found}wanted:\n{wanted}", path.display()));
                break;
            }
        }
    }
    assert!(failures.is_empty(), "{} programs:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn a_machine_without_an_operating_system_does_what_the_reference_says() {
    let Some(drystone) = compiled::Drystone::find() else {
        drystone_golden::skipped("no drystone binary (set DRYSTONE_BIN)");
        return;
    };
    if emulator().is_err() {
        drystone_golden::skipped("no qemu-system-x86_64");
        return;
    }
    let programs = Mutex::new(programs().into_iter());
    let next = || programs.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        let mut failures = Vec::new();
        while let Some(path) = next() {
            let wanted = std::fs::read_to_string(path.with_extension("expected")).expect("an .expected file");
            let found = drystone.run(&path, &["--platform", "pc"]);
            if found != wanted {
                failures.push(format!("{}:\n{found}wanted:\n{wanted}", path.display()));
            }
        }
        failures
    };
    let failures: Vec<String> = std::thread::scope(|scope| {
        let workers = [(); 2].map(|()| scope.spawn(run));
        workers.into_iter().flat_map(|worker| worker.join().expect("it doesn't panic")).collect()
    });
    assert!(failures.is_empty(), "{} programs:\n{}", failures.len(), failures.join("\n"));
}

/// All programs of the suite, in order of name.
fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/semantics");
    let entries = std::fs::read_dir(&folder).expect("the suite's folder");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    let is_numbered =
        |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes()[0].is_ascii_digit());
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "dry") && is_numbered(path));
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

/// A program with what it imports.
fn sources(path: &Path) -> Vec<SourceFile> {
    let folder = path.parent().expect("a program is in a folder");
    let name = path.file_name().expect("a file").to_string_lossy().into_owned();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let text = read(&name).expect("a text file");
    imports::load(vec![SourceFile { path: name, text }], read)
}
