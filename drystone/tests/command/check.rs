use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{DRYSTONE, complaint, drystone, folder_with, printed, status};

#[test]
fn a_sound_program_is_passed_over_in_silence() {
    let folder = folder_with("COMPONENT A; BEGIN WRITE(1) END A;");
    let output = drystone(folder.path(), &["check", "program.dry"]);
    assert_eq!((printed(&output), complaint(&output), status(&output)), (String::new(), String::new(), 0));
}

/// Our own systems are started without warnings.
#[test]
fn our_own_systems_are_passed_over_in_silence() {
    let systems = Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems");
    let folders =
        fs::read_dir(systems).expect("they are there").map(|entry| entry.expect("it is read").path());
    let mut checked = 0;
    for folder in folders.filter(|folder| folder.join("Cargo.toml").exists()) {
        let names =
            fs::read_dir(&folder).expect("it is there").map(|entry| entry.expect("it is read").file_name());
        let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
        names.sort_unstable();
        let sources: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| name.ends_with(".dry")).collect();
        if sources.is_empty() {
            continue;
        }
        let output = drystone(&folder, &[&["check", "--with", "."], &sources[..]].concat());
        assert_eq!((complaint(&output).as_str(), status(&output)), ("", 0), "{}", folder.display());
        checked += 1;
    }
    assert!(checked > 5, "{checked} systems");
}

#[test]
fn all_errors_are_shown_with_their_places() {
    let folder = folder_with("COMPONENT A;\nBEGIN\n  WRITE(x);\n  WRITE(y)\nEND A;");
    let output = drystone(folder.path(), &["check", "program.dry"]);
    assert_eq!(status(&output), 2);
    let complaint = complaint(&output);
    for part in ["program.dry:3:9: error: ", "WRITE(x)", "program.dry:4:9: error: ", "WRITE(y)"] {
        assert!(complaint.contains(part), "{complaint}");
    }
    assert!(!complaint.contains('\x1b'), "no colours unless for a terminal");
}

#[test]
fn a_part_of_programs_needs_no_entry() {
    let part = "INTERFACE I; IN M END I; COMPONENT A REQUIRES I; BEGIN I!M END A;";
    let folder = folder_with(part);
    let output = drystone(folder.path(), &["check", "program.dry"]);
    assert_eq!((complaint(&output).as_str(), status(&output)), ("", 0));
    for (text, command) in
        [(part, "run"), (&part.replace("COMPONENT A", "COMPONENT {ENTRYPOINT} A"), "check")]
    {
        let folder = folder_with(text);
        let output = drystone(folder.path(), &[command, "program.dry"]);
        assert!(complaint(&output).contains("the system does not offer I"), "{}", complaint(&output));
        assert_eq!(status(&output), 2);
    }
}

#[test]
fn no_more_errors_are_shown_than_anybody_reads() {
    let statements: String = (0..130).map(|i| format!("WRITE(x{i});\n")).collect();
    let folder = folder_with(&format!("COMPONENT A; BEGIN {statements} END A;"));
    let output = drystone(folder.path(), &["check", "program.dry"]);
    let complaint = complaint(&output);
    assert_eq!(complaint.matches("[unknown-name]").count(), 100, "{complaint}");
    assert!(complaint.ends_with("\nand 30 more\n"), "{complaint}");
}

#[test]
fn a_file_that_is_given_twice_is_named() {
    let folder = folder_with("COMPONENT A; BEGIN WRITE(1) END A;");
    for (command, path) in [
        ("run", "program.dry"),
        ("check", "./program.dry"),
        ("build", "program.dry"),
        ("graph", "program.dry"),
    ] {
        let output = drystone(folder.path(), &[command, "program.dry", path]);
        let expected = format!("error: {path} is given twice\n");
        assert_eq!((complaint(&output), status(&output)), (expected, 2), "{command}");
    }
}

#[test]
fn nobody_is_told_of_a_pipe_that_is_closed() {
    let folder = folder_with("COMPONENT A; BEGIN WRITE(1) END A;");
    for command in [&["graph", "program.dry"][..], &["build", "--mir", "program.dry"]] {
        let (reader, writer) = std::io::pipe().expect("there are pipes");
        drop(reader);
        let mut child = Command::new(DRYSTONE);
        child.args(command).current_dir(folder.path()).stdout(writer);
        let output = child.output().expect("the command runs");
        assert_eq!((complaint(&output), status(&output)), (String::new(), 0), "{command:?}");
    }
}

/// `check` reports the same as the commands that build the program.
fn is_said_by_all(folder: &Path, file: &str, part: &str, commands: &[&str]) {
    let said = |command: &str| {
        let output = drystone(folder, &[command, file]);
        (complaint(&output), status(&output))
    };
    let checked = said("check");
    assert!(checked.0.contains(part), "{checked:?}");
    for command in commands {
        assert_eq!(said(command), checked, "{command}");
    }
}

#[test]
fn what_is_missing_of_native_parts_is_said_as_by_those_who_build() {
    let own = r#"IMPORT Kortex, Machine;
COMPONENT {NATIVE "own::Own"} Own OFFERS Machine.Main; END Own;
"#;
    let system = "COMPONENT System OFFERS Machine.Main; VARIABLE own: Own; BEGIN NEW(own); \
                  CONNECT(Main, own) END System;";
    let folder = folder_with(&format!("{own}{system}"));
    let builders = ["run", "build"];
    is_said_by_all(folder.path(), "program.dry", "its components are from the crate beside it", &builders);
    fs::write(
        folder.path().join("Cargo.toml"),
        "[package]\nname = \"own\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n",
    )
    .expect("it can be written");
    fs::create_dir(folder.path().join("src")).expect("it can be made");
    fs::write(folder.path().join("src/lib.rs"), "").expect("it can be written");
    is_said_by_all(folder.path(), "program.dry", "no crate drystone_machine is among", &builders);
    let held = system.replace("OFFERS Machine.Main", "OFFERS Machine.Main REQUIRES Kortex.Threads");
    fs::write(folder.path().join("held.dry"), format!("{own}{held}")).expect("it can be written");
    let part = "the system does not offer Threads";
    is_said_by_all(folder.path(), "held.dry", part, &["run", "build", "graph"]);
    assert!(!folder.path().join("target").exists(), "nothing is built");
}

#[test]
fn a_crate_that_is_not_there_is_missed_before_anything_is_built() {
    let folder = folder_with("COMPONENT A; BEGIN WRITE(1) END A;");
    let said = |command: &str| {
        let output = drystone(folder.path(), &[command, "--with", "nowhere", "program.dry"]);
        (complaint(&output), status(&output))
    };
    let checked = said("check");
    assert!(checked.0.contains("nowhere/Cargo.toml: there is no such crate"), "{checked:?}");
    assert_eq!(["run", "build"].map(said), [checked.clone(), checked]);
}
