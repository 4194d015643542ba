//! Generated programs must do the same under every schedule and with every buffer capacity, in the interpreter and
//! compiled. `DRYSTONE_CASES` says how many programs of each kind (60 unless it is set), `DRYSTONE_SEED` where to
//! begin.
//!
//! A program that fails is made again in smaller sizes; the smallest that still fails is left in the target
//! folder, and its path and seed are in the message.

mod compiled;

use std::path::PathBuf;

use compiled::WORKERS;
use drystone_golden::{for_all_seeds, generated_cases};
use drystone_language::check;
use drystone_language::source::SourceFile;
use drystone_tests::reference::{self, End, Options};
use drystone_tests::{expected, generate};

/// Steps in a generated program.
const SIZE: usize = 4;

/// More than any generated program takes.
const STEPS: u64 = 5_000_000;

#[test]
fn generated_programs_do_the_same_everywhere() {
    check_all(SIZE, "generated", generate::program);
}

#[test]
fn services_whose_clients_are_lost_do_the_same_everywhere() {
    check_all(2, "losses", generate::losses);
}

#[test]
fn records_do_the_same_everywhere() {
    check_all(2, "records", generate::records);
}

#[test]
fn sequences_do_the_same_everywhere() {
    check_all(2, "sequences", generate::sequences);
}

#[test]
fn loops_over_arrays_do_the_same_everywhere() {
    check_all(1, "arrays", |seed, _| generate::arrays::program(seed));
}

#[test]
fn loops_over_texts_do_the_same_everywhere() {
    check_all(1, "texts", |seed, _| generate::texts::program(seed));
}

#[test]
fn elements_that_are_asked_for_again_are_what_they_are_everywhere() {
    check_all(1, "lookups", |seed, _| generate::lookups::program(seed));
}

/// Makes programs of this size; of those that fail, smaller ones too.
fn check_all(size: usize, name: &str, make: impl Fn(u64, usize) -> String + Sync) {
    let drystone = compiled::Drystone::find();
    if drystone.is_none() {
        eprintln!("the interpreter only: no drystone binary (set DRYSTONE_BIN)");
    }
    for_all_seeds(generated_cases(60), size, |seed, size| {
        examine(&format!("{name}-{seed}-{size}"), make(seed, size), seed, drystone.as_ref())
    });
}

/// Says what is wrong with a program, if anything is.
fn examine(name: &str, text: String, seed: u64, drystone: Option<&compiled::Drystone>) -> Result<(), String> {
    let path = work_folder().join(name);
    std::fs::create_dir_all(&path).expect("the target folder can be written");
    let files = files(text);
    for file in &files {
        std::fs::write(path.join(&file.path), &file.text).expect("the target folder can be written");
    }
    if let Some(problem) = compare(&files, seed, &path.join(&files[0].path), drystone) {
        return Err(format!("{}: {problem}", path.display()));
    }
    let _ = std::fs::remove_dir_all(&path);
    Ok(())
}

/// The program's own file, and the one that it imports.
fn files(text: String) -> Vec<SourceFile> {
    let (own, imported) = text.split_once(generate::IMPORTED).unwrap_or((&text, ""));
    let file = |name: &str, text: &str| SourceFile { path: format!("{name}.dry"), text: text.into() };
    vec![file("Program", own), file(generate::IMPORT, imported)]
}

fn compare(
    files: &[SourceFile],
    seed: u64,
    path: &std::path::Path,
    drystone: Option<&compiled::Drystone>,
) -> Option<String> {
    let program = match check::check(files, check::Options::default()) {
        Ok(program) => program,
        Err(errors) => {
            let error = &errors[0];
            let (line, column) = files[error.span.file as usize].line_column(error.span.start);
            return Some(format!("does not compile: {line}:{column}: {} {}", error.message, error.label));
        }
    };
    let mut wanted: Option<String> = None;
    for (schedule, capacity) in [(seed * 4, 1), (seed * 4 + 1, 4), (seed * 4 + 2, 1000), (seed * 4 + 3, 1)] {
        let options = Options { seed: schedule, capacity, max_steps: STEPS, ..Options::default() };
        let outcome = reference::run(&program, &options);
        if outcome.end == End::OutOfSteps {
            return Some(format!("does not end, schedule {schedule}, capacity {capacity}"));
        }
        let found = expected::of_interpreter(&outcome, files);
        match &wanted {
            None => wanted = Some(found),
            Some(wanted) if *wanted != found => {
                return Some(format!(
                    "interpreter, schedule {schedule}, capacity {capacity}:\n{found}but first:\n{wanted}"
                ));
            }
            Some(_) => {}
        }
    }
    let (wanted, drystone) = (wanted.expect("it was run"), drystone?);
    for workers in WORKERS {
        let found = drystone.run_on(path, workers);
        if found != wanted {
            return Some(format!("compiled, {workers:?}:\n{found}but interpreted:\n{wanted}"));
        }
    }
    None
}

/// Where failing programs are left.
fn work_folder() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    folder
}
