//! `drystone new`: a project that builds, tests and runs at once.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{complaint, drystone, folder_with, printed, status};

const GUESTS: &str = "guest 1: a glass of water, 1 on the bill\n\
                      guest 2: a glass of water, 2 on the bill\n\
                      guest 3: a glass of water, 3 on the bill\n";

#[test]
fn a_new_project_runs_tests_checks_and_builds_without_further_words() {
    let folder = folder_with("");
    let made = drystone(folder.path(), &["new", "bar"]);
    assert_eq!(status(&made), 0, "{}", complaint(&made));
    assert!(printed(&made).contains("`drystone run` and `drystone test`"));
    let project = folder.path().join("bar");
    let done = |arguments: &[&str]| {
        let output = drystone(&project, arguments);
        assert_eq!((status(&output), complaint(&output).as_str()), (0, ""), "{arguments:?}");
        printed(&output)
    };
    assert_eq!(done(&["run"]), GUESTS);
    let tested = done(&["test"]);
    assert!(tested.starts_with("running 1 test\ntests/BarTest.dry ... ok ("), "{tested}");
    assert!(tested.contains("\n1 passed, 0 failed ("), "{tested}");
    assert_eq!(done(&["check"]), "");
    assert_eq!(done(&["fmt", "--check"]), "");
    assert!(done(&["graph", "--dot"]).contains("bar"));
    done(&["build"]);
    let built = Command::new(project.join("bar")).output().expect("it was built");
    assert_eq!(printed(&built), GUESTS);
}

/// Everything the project has is named in its README.
#[test]
fn its_files_are_cargos_too() {
    let folder = folder_with("");
    drystone(folder.path(), &["new", "bar-2"]);
    let project = folder.path().join("bar-2");
    let told = Command::new("cargo")
        .args(["metadata", "--offline", "--no-deps", "--format-version", "1"])
        .current_dir(&project)
        .output();
    let told = told.expect("Cargo runs");
    assert_eq!(status(&told), 0, "{}", complaint(&told));
    assert!(printed(&told).contains("\"name\":\"bar-2\""));
    let left = [Path::new("README.md"), Path::new(".gitignore"), Path::new("Cargo.toml")];
    for file in left {
        let text = fs::read_to_string(project.join(file)).expect("it is a text");
        assert!(text.contains("bar-2") && !text.contains("NAME\n"), "{}: {text}", file.display());
    }
}

#[test]
fn a_name_that_tools_could_stumble_over_is_refused() {
    let folder = folder_with("");
    for name in ["bad name!", "$(x)", "--", "a\nb", ".hidden", "1st", "a.b", "-x", "_", "bücher"] {
        let output = drystone(folder.path(), &["new", "--", name]);
        assert_eq!(status(&output), 1, "{name}");
        assert!(complaint(&output).contains("cannot be the name of a project"), "{}", complaint(&output));
        assert!(!folder.path().join(name).exists(), "{name}");
    }
    let output = drystone(folder.path(), &["new", "Books_1-b"]);
    assert_eq!(status(&output), 0, "{}", complaint(&output));
    let output = drystone(&folder.path().join("Books_1-b"), &["run"]);
    assert_eq!(printed(&output), GUESTS, "{}", complaint(&output));
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
