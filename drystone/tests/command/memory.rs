//! A process shrinks with its program.

use std::fs;
use std::path::Path;
use std::process::{Child, Output};
use std::thread;
use std::time::Duration;

use crate::peer::Running;
use crate::{complaint, drystone, folder_with, printed, status};

#[test]
fn memory_that_a_program_needs_no_more_is_given_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command");
    for cores in ["1", "2"] {
        let output = drystone(&folder, &["run", "--cores", cores, "memory.dry"]);
        let expected = "components: given back\ntexts: given back\nkeys: given back\n";
        assert_eq!((printed(&output).as_str(), status(&output)), (expected, 0), "{cores} cores");
    }
}

/// A component that holds another one, without end: in a variable, among others, and in a procedure.
const ENDLESS: [&str; 3] = [
    "COMPONENT A; VARIABLE b: B; BEGIN NEW(b) END A; COMPONENT B; VARIABLE a: A; BEGIN NEW(a) END B;",
    "COMPONENT A; VARIABLE x, a[i: INTEGER]: A; BEGIN NEW(a[1]); NEW(x); NEW(a[2]) FINALLY DELETE(x) END A;",
    "COMPONENT A; PROCEDURE P; VARIABLE a: A; BEGIN NEW(a) END P; BEGIN P END A;",
];

#[test]
fn a_program_without_end_needs_little_more_memory_than_it_may() {
    for endless in ENDLESS {
        let text = format!("{endless} COMPONENT {{ENTRYPOINT}} Main; VARIABLE a: A; BEGIN NEW(a) END Main;");
        assert_eq!(status(&run_out_of_memory(&text)), 1, "{endless}");
    }
}

#[test]
fn a_component_without_end_that_is_ended_by_force_needs_little_more() {
    let endless = ENDLESS[0];
    let text = format!(
        "{endless} COMPONENT {{ISOLATED}} I; VARIABLE a: A; BEGIN NEW(a) END I; COMPONENT {{ENTRYPOINT}} Main; \
         VARIABLE i: I; BEGIN NEW(i); DELETE(i); WRITE(EXISTS(i)) END Main;"
    );
    let output = run_out_of_memory(&text);
    assert_eq!((printed(&output).as_str(), status(&output)), ("FALSE", 0));
}

/// Runs a program that uses up 200 MB, and checks that the process takes only 15 % more, including the command itself.
fn run_out_of_memory(text: &str) -> Output {
    let folder = folder_with(text);
    let child = Running::start(folder.path(), &["run", "--memory", "200M", "program.dry"]);
    let most = most_resident(&child);
    let output = child.output();
    let said = complaint(&output);
    assert!(said.starts_with("error: out of memory at program.dry:1:"), "{text}: {said}");
    assert!(said.contains("with the memory limit of 200M"), "{text}: {said}");
    assert!(most < 230 << 10, "{text}: {most} kilobytes");
    output
}

/// The peak of a process's resident kilobytes, seen shortly before its end.
fn most_resident(process: &Child) -> u64 {
    let path = format!("/proc/{}/status", process.id());
    let mut most = 0;
    loop {
        let text = fs::read_to_string(&path).expect("nobody has waited for it");
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        // An ended process has no such line.
        let Some(line) = line else { return most };
        most = line.trim().trim_end_matches(" kB").parse().expect("a number of kilobytes");
        thread::sleep(Duration::from_millis(1));
    }
}
