//! The servers in `systems/`, as they are used: a key-value server and a file server.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::with::alone;
use crate::{DRYSTONE, complaint, printed, status};

/// A folder in `systems/`.
fn system(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems").join(name)
}

/// The program that a system is, built once for all tests.
fn built(name: &str, once: &'static OnceLock<PathBuf>) -> &'static Path {
    once.get_or_init(|| {
        let _alone = alone();
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-server"));
        let files = fs::read_dir(system(name)).expect("it is there");
        let files = files.map(|entry| entry.expect("it can be read").file_name());
        let files = files.filter(|file| Path::new(file).extension().is_some_and(|end| end == "dry"));
        let mut command = Command::new(DRYSTONE);
        command
            .current_dir(system(name))
            .args(["build", "--with", "."])
            .args(files.collect::<Vec<OsString>>());
        let output = command.arg("-o").arg(&path).output().expect("the command runs");
        assert_eq!(status(&output), 0, "{}", complaint(&output));
        path
    })
}

fn key_value() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    built("keyvalue", &BUILT)
}

/// Runs a script of a system's, which starts the program itself.
fn script(system_name: &str, script: &str, arguments: &[&str], program: &Path) -> Option<String> {
    let mut python = Command::new("python3");
    python.arg("-B").arg(system(system_name).join("tests").join(script)).arg(program).args(arguments);
    let output = python.output().ok()?;
    assert_eq!(status(&output), 0, "{}{}", printed(&output), complaint(&output));
    Some(printed(&output))
}

/// Some of the hundred rounds of `systems/keyvalue/tests/durability.py PROGRAM 100`.
#[test]
fn what_the_key_value_server_has_acknowledged_survives_its_end() {
    let Some(said) = script("keyvalue", "durability.py", &["3"], key_value()) else {
        return drystone_golden::skipped("there is no python3");
    };
    assert!(said.starts_with("killed 3 times: all of "), "{said}");
}
