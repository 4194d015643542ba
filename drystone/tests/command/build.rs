use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
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
fn the_form_before_machine_code_is_shown() {
    let folder = folder_with("COMPONENT A; VARIABLE x: INTEGER; BEGIN x := x + 1 END A;");
    let shown = drystone(folder.path(), &["build", "--mir", "program.dry"]);
    assert_eq!((complaint(&shown).as_str(), status(&shown)), ("", 0));
    assert!(printed(&shown).contains("checked Add"), "{}", printed(&shown));
    let saved = drystone(folder.path(), &["build", "--mir", "program.dry", "-o", "program.mir"]);
    assert_eq!((printed(&saved).as_str(), status(&saved)), ("", 0));
    let text = fs::read_to_string(folder.path().join("program.mir")).expect("it was written");
    assert_eq!(text, printed(&shown));
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
    // From now on the library exists.
    assert_eq!(status(&drystone(folder.path(), &["build", "program.dry"])), 0);
    let mut command = Command::new(DRYSTONE);
    command.args(["build", "program.dry"]).env("PATH", "/nowhere").current_dir(folder.path());
    let output = command.output().expect("the command runs");
    assert_eq!(status(&output), 1);
    assert!(complaint(&output).starts_with("error: no linker"), "{}", complaint(&output));
}

/// With real numbers, for which newer processors have other instructions.
const REALS: &str = "COMPONENT A;\nVARIABLE x: REAL; i: INTEGER;\n\
                     BEGIN\n  x := 0.5;\n  FOR i := 1 TO 10 DO x := x * x + REAL(i) / 3.0 END;\n  WRITE(x); \
                     WRITELINE\nEND A;";

#[test]
fn executables_are_for_other_machines_too_unless_told_otherwise() {
    let folder = folder_with(REALS);
    for (level, has_later) in [(&[][..], false), (&["--cpu", "v2"], false), (&["--cpu", "v3"], true)] {
        assert_eq!(status(&drystone(folder.path(), &[&["build", "program.dry"], level].concat())), 0);
        let mut objdump = Command::new("objdump");
        let listing =
            objdump.args(["-d", "--no-show-raw-insn", "program"]).current_dir(folder.path()).output();
        let Ok(listing) = listing else { return drystone_golden::skipped("no objdump") };
        let listing = printed(&listing);
        // Names of generated functions have a number behind a dollar.
        let generated: Vec<&str> = listing.split("\n\n").filter(|code| code.contains("<A$0")).collect();
        assert!(!generated.is_empty(), "the program's code is named");
        assert_eq!(generated.iter().any(|code| code.contains("\tvmulsd")), has_later, "{level:?}");
        assert_eq!(generated.iter().any(|code| code.contains("\tmulsd")), !has_later, "{level:?}");
    }
}

#[test]
fn an_executable_says_what_its_processor_lacks() {
    let folder = folder_with(REALS);
    assert_eq!(status(&drystone(folder.path(), &["build", "program.dry"])), 0);
    let path = folder.path().join("program");
    let mut bytes = fs::read(&path).expect("it was made");
    // Made for a processor that doesn't exist.
    let needed = bytes.windows(6).position(|bytes| bytes == b" ssse3").expect("it says what it needs");
    bytes[needed + 1] = b'x';
    fs::write(&path, bytes).expect("it may be written");
    let output = Command::new(&path).output().expect("the executable runs");
    assert_eq!((printed(&output).as_str(), status(&output)), ("", 1));
    assert!(complaint(&output).contains("this processor has no xsse3"), "{}", complaint(&output));
}

/// Cargo compiles a crate once for each set of features. If this fails, `platform/linux/Cargo.toml` says where to name
/// a feature.
#[test]
fn crates_have_the_same_features_whatever_is_built() {
    let features = |what: &[&str]| -> BTreeMap<String, String> {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["tree", "--locked", "--offline", "--prefix", "none", "--format", "{p} [{f}]"]).args(what);
        let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("Cargo runs");
        assert_eq!(status(&output), 0, "{}", complaint(&output));
        let of_others = |line: &str| !line.contains("(/");
        let lines =
            printed(&output).lines().filter(|line| of_others(line)).map(str::to_string).collect::<Vec<_>>();
        let parts = lines.iter().filter_map(|line| line.trim_end_matches(" (*)").split_once(" ["));
        parts
            .map(|(package, features)| (package.replace(" (proc-macro)", ""), features.to_string()))
            .collect()
    };
    let all = features(&["--workspace", "--edges", "all"]);
    assert!(all.len() > 200, "{all:?}");
    // A program was built before, so the library's package exists.
    let folder = folder_with("COMPONENT A;\nBEGIN\nEND A;");
    assert_eq!(status(&drystone(folder.path(), &["build", "program.dry"])), 0);
    let made = Path::new(DRYSTONE).ancestors().nth(2).expect("it is in a folder of the target's");
    let library = made.join("drystone/drystone-start/Cargo.toml").display().to_string();
    let others: [&[&str]; 4] = [
        &["--package", "drystone"],
        &["--package", "drystone-bench"],
        &["--manifest-path", &library],
        // As `drystone specialise` has it built.
        &["--package", "drystone-linux", "--package", "drystone-specialise"],
    ];
    for other in others {
        let found = features(&[other, &["--edges", "normal,build"]].concat());
        let differ = found.iter().filter(|(name, features)| all.get(*name) != Some(features));
        assert_eq!(differ.collect::<Vec<_>>(), Vec::new(), "for {other:?} alone");
    }
}
