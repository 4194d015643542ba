//! `./run`, with a cargo that only takes time.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::{complaint, printed, programs, status};

fn executable(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).expect("a temporary folder can be written");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

/// Runs it with an existing command, and this for cargo.
fn run_with(cargo: &str) -> Output {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let target = folder.path().join("target/release");
    fs::create_dir_all(&target).expect("a temporary folder can be written");
    executable(&target.join("drystone"), "echo \"$@\"");
    executable(&folder.path().join("rustup"), "exit 0");
    executable(&folder.path().join("cargo"), cargo);
    let path = std::env::var("PATH").expect("there is one");
    let mut command = Command::new(programs().with_file_name("run"));
    command.arg("x.dry").env("PATH", format!("{}:{path}", folder.path().display()));
    command.env("CARGO_TARGET_DIR", folder.path().join("target")).output().expect("there is a shell")
}

#[test]
fn who_waits_for_a_build_is_told() {
    let built = run_with("sleep 2");
    assert_eq!((printed(&built).as_str(), status(&built)), ("run x.dry\n", 0));
    assert_eq!(complaint(&built), "Building Drystone anew: its sources have changed.\n");
}

#[test]
fn where_there_is_nothing_to_build_nothing_is_said() {
    let ran = run_with("exit 0");
    assert_eq!((printed(&ran).as_str(), complaint(&ran).as_str(), status(&ran)), ("run x.dry\n", "", 0));
    assert_eq!(status(&run_with("exit 101")), 101);
}
