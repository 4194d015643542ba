//! The guard of instructions as those meet it who made something dearer: with kernels and a record of its own.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const KERNEL: &str = "
COMPONENT Count;
CONSTANT
  N = 20000;
VARIABLE i, sum: INTEGER;
BEGIN
  FOR i := 1 TO N DO INC(sum, i MOD 7) END;
  ASSERT(sum > 0)
END Count;
";

#[test]
fn a_kernel_that_has_grown_fails_until_it_is_recorded() {
    if !can_count() {
        return;
    }
    let folder = folder_with(r#"{"count": 0.5}"#);
    let refused = guard(folder.path(), &[]);
    assert_eq!(refused.status.code(), Some(1));
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(told.starts_with("error: count: grown (+"), "{told}");
    assert!(told.contains("guard --bless"), "{told}");

    assert!(guard(folder.path(), &["--bless"]).status.success());
    let record = fs::read_to_string(folder.path().join("instructions.json")).expect("a record");
    assert!(record.contains("\"count\": ") && !record.contains("0.5"), "{record}");

    let accepted = guard(folder.path(), &[]);
    assert!(accepted.status.success(), "{}", String::from_utf8_lossy(&accepted.stderr));
}

#[test]
fn a_kernel_that_has_shrunk_is_told_but_does_not_fail() {
    if !can_count() {
        return;
    }
    let folder = folder_with(r#"{"count": 1000}"#);
    let told = guard(folder.path(), &[]);
    assert!(told.status.success());
    assert!(String::from_utf8_lossy(&told.stdout).contains("shrunk"));
}

#[test]
fn without_valgrind_the_guard_says_how_to_have_it() {
    let folder = folder_with("{}");
    let refused = command(folder.path()).env("PATH", "").output().expect("the bench runs");
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("apt-get install valgrind"));
}

fn folder_with(record: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let write =
        |name, text| fs::write(folder.path().join(name), text).expect("a temporary folder can be written");
    write("count.dry", KERNEL);
    write("instructions.json", record);
    folder
}

fn guard(folder: &Path, arguments: &[&str]) -> Output {
    command(folder).args(arguments).output().expect("the bench runs")
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_drystone-bench"));
    command.arg("guard").arg("--kernels").arg(folder);
    command
}

/// Without a command given, the guard would build one: that takes too long for a test.
fn can_count() -> bool {
    let can = std::env::var_os("DRYSTONE_BIN").is_some()
        && Command::new("valgrind").arg("--version").output().is_ok();
    if !can {
        drystone_golden::skipped("no valgrind, or no drystone binary (set DRYSTONE_BIN)");
    }
    can
}
