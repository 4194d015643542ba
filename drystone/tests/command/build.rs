use std::fs;
use std::process::{Command, Stdio};

use crate::{DRYSTONE, complaint, drystone, folder_with, printed, programs, status};

#[test]
fn executables_do_what_their_programs_do() {
    for name in ["TokenRing", "Library", "lessons/08-composition"] {
        let folder = folder_with("");
        let executable = folder.path().join("program");
        let source = format!("{name}.dry");
        let output =
            drystone(&programs(), &["build", &source, "-o", executable.to_str().expect("a plain path")]);
        assert_eq!((complaint(&output).as_str(), status(&output)), ("", 0));
        for cores in ["1", "2"] {
            let mut command = Command::new(&executable);
            command.env_clear().env("DRYSTONE_CORES", cores).current_dir(folder.path()).stdin(Stdio::null());
            let output = command.output().expect("the executable runs");
            let expected =
                fs::read_to_string(programs().join(format!("{name}.expected"))).expect("it is there");
            assert_eq!((printed(&output), status(&output)), (expected, 0), "{}", complaint(&output));
        }
    }
}

#[test]
fn an_executable_has_status_and_errors_of_its_program() {
    let folder = folder_with("COMPONENT A;\nVARIABLE x: INTEGER;\nBEGIN\n  x := 1 DIV x\nEND A;");
    assert_eq!(status(&drystone(folder.path(), &["build", "program.dry"])), 0);
    let output = Command::new(folder.path().join("program")).output().expect("the executable runs");
    assert_eq!(status(&output), 1);
    assert!(complaint(&output).contains("division by zero at program.dry:4:"), "{}", complaint(&output));
}

#[test]
fn nothing_is_made_of_a_program_with_errors() {
    let folder = folder_with("COMPONENT A; BEGIN WRITE(x) END A;");
    let output = drystone(folder.path(), &["build", "program.dry", "-o", "program"]);
    assert_eq!(status(&output), 2);
    assert!(!folder.path().join("program").exists());
}

#[test]
fn bad_names_for_the_executable_are_explained() {
    let folder = folder_with("COMPONENT A; END A;");
    for (name, reason) in
        [(".", "is a directory"), ("program.dry", "is the program's text"), ("no/where", "linked")]
    {
        let output = drystone(folder.path(), &["build", "program.dry", "-o", name]);
        assert_eq!(status(&output), 1);
        assert!(complaint(&output).contains(reason), "{}", complaint(&output));
    }
}

#[test]
fn a_missing_linker_is_explained() {
    let folder = folder_with("COMPONENT A; END A;");
    let mut command = Command::new(DRYSTONE);
    command.args(["build", "program.dry"]).env("PATH", "/nowhere").current_dir(folder.path());
    let output = command.output().expect("the command runs");
    assert_eq!(status(&output), 1);
    assert!(complaint(&output).starts_with("error: no linker"), "{}", complaint(&output));
}
