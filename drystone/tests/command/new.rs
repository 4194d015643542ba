use std::process::Command;

use crate::{DRYSTONE, complaint, drystone, folder_with, printed, status};

#[test]
fn a_new_project_passes_its_test() {
    let folder = folder_with("");
    let output = drystone(folder.path(), &["new", "bar"]);
    assert_eq!(status(&output), 0, "{}", complaint(&output));
    assert!(printed(&output).contains("drystone run bar/main.dry"));
    let test =
        Command::new(folder.path().join("bar/test")).env("DRYSTONE", DRYSTONE).output().expect("it runs");
    assert_eq!((printed(&test).as_str(), status(&test)), ("passed\n", 0), "{}", complaint(&test));
}

#[test]
fn a_name_that_tools_could_stumble_over_is_refused() {
    let folder = folder_with("");
    for name in ["bad name!", "$(x)", "--", "a\nb", ".hidden"] {
        let output = drystone(folder.path(), &["new", "--", name]);
        assert_eq!(status(&output), 1, "{name}");
        assert!(complaint(&output).contains("cannot be the name of a project"), "{}", complaint(&output));
        assert!(!folder.path().join(name).exists(), "{name}");
    }
    let output = drystone(folder.path(), &["new", "bücher_1.2-b"]);
    assert_eq!(status(&output), 0, "{}", complaint(&output));
}

#[test]
fn its_test_fails_when_the_program_prints_something_else() {
    let folder = folder_with("");
    drystone(folder.path(), &["new", "bar"]);
    let project = folder.path().join("bar");
    std::fs::write(project.join("main.expected"), "something else\n").expect("written");
    let test = Command::new(project.join("test")).env("DRYSTONE", DRYSTONE).output().expect("it runs");
    assert_eq!(status(&test), 1);
}

#[test]
fn what_is_there_is_left_alone() {
    let folder = folder_with("");
    for name in ["program.dry", "."] {
        let output = drystone(folder.path(), &["new", name]);
        assert_eq!(status(&output), 1);
        assert!(complaint(&output).starts_with("error: "), "{}", complaint(&output));
    }
}
