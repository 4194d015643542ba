//! The conformance suite of the language: `semantics/NAME.dry` must do what `NAME.expected` says, each named for
//! the section and the rule of the language reference that it shows. The interpreter runs them with several
//! buffer capacities and schedules, the compiled system (where there is one) on one and more cores. What has no number
//! is imported by others.

mod compiled;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use compiled::{Drystone, WORKERS};
use drystone_emulated::emulator;
use drystone_golden::for_all;
use drystone_language::check;
use drystone_language::imports;
use drystone_language::source::SourceFile;
use drystone_tests::expected;
use drystone_tests::reference::{self, Options};

/// Programs that write files must not run in both tests at the same time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[test]
fn the_interpreter_does_what_the_reference_says() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for_all(programs().into_iter(), |path| {
        let files = sources(&path);
        let wanted = drystone_golden::read(&path.with_extension("expected"));
        let program = check::check(&files, check::Options::default())
            .map_err(|errors| format!("{}: does not compile: {errors:?}", files[0].path))?;
        for (seed, capacity) in [(0, 1), (1, 4), (2, 1000), (3, 1), (4, 1), (5, 4)] {
            let options = Options { seed, capacity, max_steps: 3_000_000, ..Options::default() };
            let outcome = reference::run(&program, &options);
            let found = expected::of_interpreter(&outcome, &files);
            if found != wanted {
                return Err(format!("{}, seed {seed}, capacity {capacity}:\n{found}", files[0].path));
            }
        }
        Ok(())
    });
}

#[test]
fn the_compiled_system_does_what_the_reference_says() {
    let Some(drystone) = Drystone::find() else {
        drystone_golden::skipped("no drystone binary (set DRYSTONE_BIN)");
        return;
    };
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for_all(programs().into_iter(), |path| {
        let wanted = drystone_golden::read(&path.with_extension("expected"));
        WORKERS.into_iter().try_for_each(|workers| {
            let found = drystone.run_on(&path, workers);
            as_wanted(&path, &format!("{workers:?}"), &found, &wanted)
        })
    });
}

#[test]
fn a_machine_without_an_operating_system_does_what_the_reference_says() {
    let Some(drystone) = Drystone::find() else {
        drystone_golden::skipped("no drystone binary (set DRYSTONE_BIN)");
        return;
    };
    if emulator().is_err() {
        drystone_golden::skipped("no qemu-system-x86_64");
        return;
    }
    for_all(programs().into_iter(), |path| does_as_expected(&drystone, &path, &["--platform", "pc"]));
}

/// Says what a program does otherwise than is written beside it.
fn does_as_expected(drystone: &Drystone, path: &Path, options: &[&str]) -> Result<(), String> {
    let wanted = drystone_golden::read(&path.with_extension("expected"));
    as_wanted(path, &format!("{options:?}"), &drystone.run(path, options), &wanted)
}

fn as_wanted(path: &Path, how: &str, found: &str, wanted: &str) -> Result<(), String> {
    if found == wanted {
        return Ok(());
    }
    Err(format!("{}, {how}:\n{found}wanted:\n{wanted}", path.display()))
}

/// All programs of the suite, in order of name.
fn programs() -> Vec<PathBuf> {
    let mut programs =
        drystone_golden::cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/semantics"), "dry");
    let is_numbered =
        |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes()[0].is_ascii_digit());
    programs.retain(|path| is_numbered(path));
    programs
}

/// A program with what it imports.
fn sources(path: &Path) -> Vec<SourceFile> {
    let folder = path.parent().expect("a program is in a folder");
    let name = path.file_name().expect("a file").to_string_lossy().into_owned();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let text = read(&name).expect("a text file");
    imports::load(vec![SourceFile { path: name, text }], read)
}
