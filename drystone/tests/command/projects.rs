//! Projects: what their manifests say, and `drystone test`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::{complaint, drystone, folder_with, printed, status};

const MANIFEST: &str = "[package]\nname = \"p\"\n[package.metadata.drystone]\n";

/// A program that prints a text.
pub fn printing(text: &str) -> String {
    format!("COMPONENT Main; BEGIN WRITE(\"{text}\"); WRITELINE END Main;\n")
}

/// Writes files, with their folders.
pub fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("folders can be made");
        fs::write(path, text).expect("files can be written");
    }
}

/// A folder with these files.
pub fn folder_of(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    write(folder.path(), files);
    folder
}

#[test]
fn the_innermost_project_around_a_place_counts_and_manifests_of_others_do_not() {
    let folder = folder_of(&[
        ("Cargo.toml", &format!("{MANIFEST}entry = \"outer.dry\"\n")),
        ("outer.dry", &printing("outer")),
        ("inner/Cargo.toml", MANIFEST),
        ("inner/main.dry", &printing("inner")),
        ("inner/rust/Cargo.toml", "[package]\nname = \"rust\"\n"),
        ("inner/rust/src/lib.rs", ""),
        ("broken/Cargo.toml", "[package\n"),
        ("broken/main.dry", &printing("broken")),
    ]);
    for (place, expected) in
        [(".", "outer\n"), ("inner", "inner\n"), ("inner/rust/src", "inner\n"), ("broken", "outer\n")]
    {
        let output = drystone(&folder.path().join(place), &["run"]);
        assert_eq!(printed(&output), expected, "{place}: {}", complaint(&output));
    }
    let output = drystone(folder.path(), &["run", "broken/main.dry"]);
    assert_eq!(printed(&output), "broken\n", "{}", complaint(&output));
    symlink(folder.path().join("inner"), folder.path().join("link")).expect("links can be made");
    assert_eq!(printed(&drystone(&folder.path().join("link"), &["run"])), "inner\n");
}

#[test]
fn arguments_of_the_projects_program_stand_behind_two_strokes() {
    let arguments = "COMPONENT Main REQUIRES Arguments; VARIABLE x: TEXT;
        BEGIN Arguments!GetArguments;
          WHILE Arguments?Argument DO Arguments?Argument(x); WRITE(x); WRITE(\";\") END; Arguments?End
        END Main;";
    let folder = folder_of(&[("Cargo.toml", MANIFEST), ("main.dry", arguments)]);
    for (given, expected) in [
        (&["run", "--", "a", "-b", "x.dry", "--"][..], "a;-b;x.dry;--;"),
        (&["run", "main.dry", "a", "--", "b"], "a;--;b;"),
        (&["run", "main.dry", "--", "x.dry"], "x.dry;"),
        (&["run", "--cores", "1", "--", "a"], "a;"),
        (&["run", "--"], ""),
    ] {
        let output = drystone(folder.path(), given);
        assert_eq!((printed(&output).as_str(), status(&output)), (expected, 0), "{}", complaint(&output));
    }
}

#[test]
fn without_a_project_a_file_must_be_named() {
    let folder = folder_with("");
    for command in ["run", "check", "build", "graph", "fmt", "test"] {
        let output = drystone(folder.path(), &[command]);
        assert_eq!(status(&output), 2, "{command}");
        assert!(complaint(&output).starts_with("error: there is no project here"), "{}", complaint(&output));
    }
}

#[test]
fn what_is_wrong_with_a_manifest_is_said() {
    for (manifest, expected) in [
        ("[package]\nname = \"p\"\n[package.metadata.drystone\n", "Cargo.toml: TOML parse error at line 3"),
        ("[package]\nname = \"p\"\nmetadata.drystone = 3\n", "is a table"),
        ("[package.metadata.drystone]\n", "[package] has no name"),
        (&format!("{MANIFEST}entri = \"a.dry\"\n"), "entri has no meaning in [package.metadata.drystone]"),
        (&format!("{MANIFEST}entry = 3\n"), "entry is the name of a file"),
        (&format!("{MANIFEST}files = []\n"), "files is the name of a file or folder"),
        (&format!("{MANIFEST}entry = \"none.dry\"\n"), "none.dry: there is no such file\nhelp: entry in "),
        (&format!("{MANIFEST}entry = \"folder\"\n"), "folder: it is a folder\nhelp: entry in "),
        (&format!("{MANIFEST}tests = \"a.dry\"\n"), "tests is a list of files"),
        (&format!("{MANIFEST}tests = [3]\n"), "tests is a list of files"),
    ] {
        let folder = folder_of(&[("Cargo.toml", manifest), ("folder/main.dry", &printing("x"))]);
        let output = drystone(folder.path(), &["run"]);
        assert_eq!(status(&output), 2, "{manifest}");
        let said = complaint(&output);
        assert!(said.starts_with("error: ") && said.contains(expected), "{manifest}: {said}");
    }
    let folder = folder_of(&[("main.dry", &printing("x"))]);
    fs::write(folder.path().join("Cargo.toml"), b"[package.metadata.drystone]\nentry = \"\xff\"\n")
        .expect("written");
    assert_eq!(status(&drystone(folder.path(), &["run"])), 2);
}

#[test]
fn tests_import_the_projects_files_and_each_result_is_shown() {
    let folder = folder_of(&[
        ("Cargo.toml", MANIFEST),
        ("Own.dry", "CONSTANT Answer = 42;"),
        ("tests/passes.dry", "IMPORT Own; COMPONENT Main; BEGIN ASSERT(Own.Answer = 42) END Main;"),
        ("tests/fails.dry", "COMPONENT Main; BEGIN WRITE(\"so far\"); ASSERT(FALSE) END Main;"),
        ("tests/halts.dry", "COMPONENT Main; BEGIN HALT(3) END Main;"),
        ("tests/wrong.dry", "COMPONENT Main; BEGIN x END Main;"),
        (
            "tests/differs.dry",
            "COMPONENT Main; VARIABLE i: INTEGER; BEGIN
            FOR i := 1 TO 4 DO WRITE(i); WRITELINE END END Main;",
        ),
        ("tests/differs.expected", "1\ntwo\n3\n4\n"),
        ("tests/lacks.dry", "COMPONENT Main; BEGIN WRITE(\"end\") END Main;"),
        ("tests/lacks.expected", "end\n"),
        ("tests/no test.txt", ""),
        ("tests/deeper/not.dry", ""),
    ]);
    let output = drystone(folder.path(), &["test"]);
    let shown = printed(&output);
    assert_eq!((status(&output), complaint(&output).as_str()), (1, ""));
    assert!(shown.starts_with("running 6 tests\ntests/differs.dry ... FAILED ("), "{shown}");
    for expected in [
        "\ntests/passes.dry ... ok (",
        "\ntests/differs.dry: it has not printed what is in tests/differs.expected\nfrom line 2:\n- two\n+ 2\n\n",
        "\ntests/fails.dry: it ended with status 1\nso far\nerror: assertion failed at tests/fails.dry:1:",
        "\ntests/halts.dry: it ended with status 3\n",
        "\ntests/lacks.dry: it has not printed what is in tests/lacks.expected\nthey differ only in how",
        "\ntests/wrong.dry: it ended with status 2\ntests/wrong.dry:1:23: error: x is not",
        "\n1 passed, 5 failed (",
    ] {
        assert!(shown.contains(expected), "{expected}\n--- is not in\n{shown}");
    }
    let chosen = printed(&drystone(&folder.path().join("tests/deeper"), &["test", "pass", "halts"]));
    assert!(
        chosen.starts_with("running 2 tests\ntests/halts.dry") && chosen.contains("\n1 passed, 1 failed"),
        "{chosen}"
    );
    let output = drystone(folder.path(), &["test", "pass", "nonsense"]);
    assert_eq!(status(&output), 2);
    assert!(complaint(&output).contains("nonsense is no file, and part of the name of no test"));
}

#[test]
fn tests_that_hang_or_print_for_ever_are_stopped() {
    let folder = folder_of(&[
        ("hangs.dry", "COMPONENT Main; BEGIN WRITE(\"waits\"); WRITELINE; PASSIVATE(600000) END Main;"),
        ("prints.dry", "COMPONENT Main; BEGIN WHILE TRUE DO WRITE(\"xxxxxxxxxxxxxxxxxxxx\") END END Main;"),
        ("passes.dry", &printing("right")),
    ]);
    let begun = Instant::now();
    let output =
        drystone(folder.path(), &["test", "--timeout", "2", "hangs.dry", "prints.dry", "./passes.dry"]);
    assert!(begun.elapsed() < Duration::from_secs(60));
    let shown = printed(&output);
    assert_eq!(status(&output), 1, "{shown}");
    for expected in ["hangs.dry: it hasn't ended within 2 s, and was stopped\n", "./passes.dry ... ok ("] {
        assert!(shown.contains(expected), "{shown}");
    }
    assert!(shown.contains("prints.dry: it has"), "{shown}");
    assert!(shown.ends_with(" s)\n") && shown.contains("\n1 passed, 2 failed ("), "{shown}");
    assert_eq!(status(&drystone(folder.path(), &["test", "--timeout", "0", "passes.dry"])), 2);
}

#[test]
fn arguments_and_input_of_a_test_stand_beside_it() {
    let echo = "COMPONENT Main REQUIRES Arguments, Console; VARIABLE x: TEXT;
        BEGIN Arguments!GetArguments;
          WHILE Arguments?Argument DO Arguments?Argument(x); WRITE(x); WRITE(\";\") END; Arguments?End;
          Console!ReadLine; Console?Line(x); WRITE(x)
        END Main;";
    let folder = folder_of(&[
        ("echo.dry", echo),
        ("echo.args", "a b\n--\nx.dry\n"),
        ("echo.in", "read\n"),
        ("echo.expected", "a b;--;x.dry;read"),
    ]);
    let output = drystone(folder.path(), &["test", "echo.dry"]);
    assert_eq!(status(&output), 0, "{}", printed(&output));
}

#[test]
fn long_outputs_are_shown_in_part() {
    let numbers = "COMPONENT Main; VARIABLE i: INTEGER; BEGIN
        FOR i := 1 TO 1000 DO WRITE(i); WRITELINE END; HALT(STATUS) END Main;";
    let folder = folder_of(&[
        ("ends.dry", &numbers.replace("STATUS", "1")),
        ("differs.dry", &numbers.replace("STATUS", "0")),
        ("differs.expected", "nothing\n"),
    ]);
    let shown = printed(&drystone(folder.path(), &["test", "ends.dry", "differs.dry"]));
    assert!(shown.contains("ends.dry: it ended with status 1\n(980 lines before)\n981\n"), "{shown}");
    assert!(
        shown.contains("from line 1:\n- nothing\n+ 1\n") && shown.contains("+ and 980 lines more\n"),
        "{shown}"
    );
}

#[test]
fn a_project_says_which_its_tests_are() {
    let manifest =
        format!("{MANIFEST}tests = [\"*Test.dry\", \"more/one.dry\", \"more/o*.dry\", \"none/*.dry\"]\n");
    let folder = folder_of(&[
        ("Cargo.toml", &manifest),
        ("aTest.dry", &printing("a")),
        ("Test.dry", &printing("b")),
        ("Tests.dry", &printing("c")),
        ("more/one.dry", &printing("d")),
        ("more/two.dry", &printing("e")),
    ]);
    let shown = printed(&drystone(folder.path(), &["test"]));
    let names: Vec<_> =
        shown.lines().filter_map(|line| line.split_once(" ... ok")).map(|(name, _)| name).collect();
    assert_eq!(names, ["Test.dry", "aTest.dry", "more/one.dry"], "{shown}");
    let none = folder_of(&[("Cargo.toml", MANIFEST)]);
    let output = drystone(none.path(), &["test"]);
    assert_eq!(status(&output), 2);
    assert!(complaint(&output).starts_with("error: p has no tests: "), "{}", complaint(&output));
}

#[test]
fn all_files_of_a_project_are_formatted() {
    let folder = folder_of(&[
        ("Cargo.toml", MANIFEST),
        ("main.dry", &printing("x")),
        ("deeper/more.dry", "COMPONENT  A;END A;"),
        ("target/made.dry", "COMPONENT  A;END A;"),
        ("other/Cargo.toml", "[package]\nname = \"other\"\n"),
        ("other/other.dry", "COMPONENT  A;END A;"),
    ]);
    symlink(folder.path(), folder.path().join("deeper/round")).expect("links can be made");
    let output = drystone(&folder.path().join("deeper"), &["fmt", "--check"]);
    assert_eq!((printed(&output).as_str(), status(&output)), ("../deeper/more.dry\n../main.dry\n", 1));
    assert_eq!(status(&drystone(folder.path(), &["fmt"])), 0);
    assert_eq!(status(&drystone(folder.path(), &["fmt", "--check"])), 0);
    let other = fs::read_to_string(folder.path().join("other/other.dry")).expect("it is there");
    assert_eq!(other, "COMPONENT  A;END A;");
}
