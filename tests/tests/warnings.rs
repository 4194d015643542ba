//! What is said to be hardly meant in how programs talk is hardly meant: nothing is said of the repository's programs
//! and of generated ones, and in the conformance suite only where a program shows just that.

use std::path::{Path, PathBuf};

use drystone_language::check::{Options, check};
use drystone_language::imports;
use drystone_language::source::SourceFile;
use drystone_tests::generate;

/// Programs of the conformance suite that end by what they don't receive, or ask what can't be.
const SHOWN: [&str; 12] = [
    "10_a_component_that_deletes_is_ended_meanwhile",
    "10_an_end_that_the_protocol_forbids",
    "10_what_a_server_said_before_it_was_lost_is_heard",
    "4_disconnect_where_the_protocol_may_not_end",
    "4_using_an_unconnected_interface_waits_for_the_connection",
    "5_a_block_with_the_lock_is_finished_when_its_client_is_lost",
    "5_a_component_in_a_send_that_ends_the_service_is_deleted",
    "5_a_service_hears_what_its_client_said_before_it_was_lost",
    "5_a_test_tells_which_message_is_next",
    "5_a_wrong_message_is_a_violation",
    "5_input_waits_for_a_time",
    "5_what_finally_of_an_implementation_sends_is_dropped",
];

/// How many generated programs are looked at.
const GENERATED: u64 = 400;

/// What is said of how a program talks.
fn doubts(files: &[SourceFile]) -> Vec<String> {
    let program =
        check(files, Options::default()).unwrap_or_else(|errors| panic!("{}: {errors:?}", files[0].path));
    let doubts =
        program.warnings.iter().filter(|warning| matches!(warning.code, "never-received" | "never-true"));
    let place = |warning: &drystone_language::source::Diagnostic| {
        let (file, start) = (&files[warning.span.file as usize], warning.span.start);
        let (line, column) = file.line_column(start);
        format!("{}:{line}:{column}: {}: {}", file.path, warning.message, warning.label)
    };
    doubts.map(place).collect()
}

/// A program with what it imports; `None`: it needs a crate, or is no program of its own.
fn read(path: &Path) -> Option<Vec<SourceFile>> {
    let folder = path.parent().expect("a program is in a folder");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
    let text = std::fs::read_to_string(path).expect("a text file");
    let files = imports::load(vec![SourceFile { path: path.display().to_string(), text }], read);
    check(&files, Options::default()).is_ok().then_some(files)
}

fn programs_in(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.ends_with("target") {
            programs_in(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "dry") {
            found.push(path);
        }
    }
}

fn all_in(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    programs_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found);
    found.sort();
    found
}

#[test]
fn nothing_is_said_of_the_repository_s_programs() {
    let all = ["../programs", "../systems", "../drystone/tests", "../bench/programs"].map(all_in).concat();
    let programs: Vec<_> = all.iter().filter_map(|path| read(path)).collect();
    assert!(programs.len() >= 50, "only {} programs are found", programs.len());
    let said: Vec<String> = programs.iter().flat_map(|files| doubts(files)).collect();
    assert!(said.is_empty(), "{}", said.join("\n"));
}

#[test]
fn nothing_is_said_of_generated_programs() {
    for seed in 0..GENERATED {
        let text = if seed % 4 == 0 { generate::losses(seed, 2) } else { generate::program(seed, 4) };
        let (own, imported) = text.split_once(generate::IMPORTED).unwrap_or((&text, ""));
        let file = |name: &str, text: &str| SourceFile { path: format!("{name}.dry"), text: text.into() };
        let said = doubts(&[file("Program", own), file(generate::IMPORT, imported)]);
        assert!(said.is_empty(), "seed {seed}: {}", said.join("\n"));
    }
}

#[test]
fn in_the_conformance_suite_it_is_said_where_it_is_shown() {
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let programs = all_in("tests/semantics").into_iter().filter_map(|path| Some((name(&path), read(&path)?)));
    let said: Vec<_> =
        programs.map(|(name, files)| (name, doubts(&files))).filter(|(_, said)| !said.is_empty()).collect();
    let unexpected: Vec<_> = said.iter().filter(|(name, _)| !SHOWN.contains(&name.as_str())).collect();
    let unsaid: Vec<_> = SHOWN.iter().filter(|name| !said.iter().any(|(said, _)| said == **name)).collect();
    assert!(unexpected.is_empty() && unsaid.is_empty(), "{unexpected:#?}\nnothing is said of {unsaid:?}");
}
