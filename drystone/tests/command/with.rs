//! `--with CRATE`: crates that are built in.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{DRYSTONE, complaint, drystone, folder_with, printed, status};

/// While it is held no other test builds crates: a build that has to wait would report that.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn systems() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in a folder").join("systems")
}

#[test]
fn a_crate_adds_components_names_and_factories() {
    let words = systems().join("words");
    let expected = fs::read_to_string(words.join("Words.expected")).expect("it is there");
    let _alone = alone();
    let doing = "building words with what a program runs on";
    // Forces a build.
    let start = systems().join("../target/drystone/drystone-start-words/src/lib.rs");
    let _ = fs::remove_file(start);
    for is_first in [true, false] {
        let output = drystone(&words, &["run", "--with", ".", "Words.dry", "interfaces.dry"]);
        assert_eq!((printed(&output), status(&output)), (expected.clone(), 0));
        // It reports more if that takes long, or another Cargo is running.
        let said = complaint(&output);
        assert_eq!(!said.is_empty(), is_first, "{said}");
        assert!(said.lines().all(|line| line.starts_with(doing)), "{said}");
    }
}

#[test]
fn records_and_sequences_go_to_rust_and_back() {
    let words = systems().join("words");
    let expected = fs::read_to_string(words.join("Echoing.expected")).expect("it is there");
    let _alone = alone();
    let output = drystone(&words, &["run", "--with", ".", "Echoing.dry", "interfaces.dry"]);
    assert_eq!((printed(&output), status(&output)), (expected, 0), "{}", complaint(&output));
}

#[test]
fn names_of_a_crate_are_known_beside_it_only() {
    let words = systems().join("words");
    let check =
        |with: &[&str]| drystone(&words, &[&["check"], with, &["Words.dry", "interfaces.dry"]].concat());
    assert_eq!(status(&check(&["--with", "."])), 0);
    let alone = check(&[]);
    assert_eq!(status(&alone), 2);
    assert!(complaint(&alone).contains("words:drystone: there is no naming context words"));
}

#[test]
fn what_no_crate_offers_is_said() {
    let folder =
        folder_with("INTERFACE Elsewhere; IN Go END Elsewhere; COMPONENT A REQUIRES Elsewhere; END A;");
    let words = systems().join("words");
    let words = words.to_str().expect("a plain path");
    let _alone = alone();
    let output = drystone(folder.path(), &["run", "--with", words, "program.dry"]);
    assert_eq!(status(&output), 2);
    assert!(complaint(&output).contains("Elsewhere: the system offers no such interface"));
}

#[test]
fn a_folder_without_a_crate_and_a_missing_cargo_are_explained() {
    let folder = folder_with("COMPONENT A; END A;");
    let output = drystone(folder.path(), &["build", "--with", "nowhere", "program.dry"]);
    assert_eq!(status(&output), 1);
    assert!(
        complaint(&output).contains("nowhere/Cargo.toml: there is no such crate"),
        "{}",
        complaint(&output)
    );
    let mut command = Command::new(DRYSTONE);
    command.args(["build", "--with"]).arg(systems().join("words")).arg("program.dry");
    let output =
        command.current_dir(folder.path()).env("PATH", "/nowhere").output().expect("the command runs");
    assert_eq!(status(&output), 1);
    assert!(complaint(&output).contains("needs cargo"), "{}", complaint(&output));
}

/// A Cargo that says how it was called, what of its surroundings matters, how far it is, and what rustc says of a crate
/// that needs an operating system.
const TELLING_CARGO: &str = "#!/bin/sh
if [ \"$1\" = metadata ]; then exec \"$REAL_CARGO\" \"$@\"; fi
echo \"$@\" > \"$CALLED\"
printf '   Compiling words v0.1.0\\n' >&2
for i in 1 2 3; do sleep 0.3; printf '    Building [==> ] %s/85: words\\r' $i >&2; done
echo 'error: duplicate lang item in crate `std` (which `bitflags` depends on): `sized`.' >&2
echo '  = note: the lang item is first defined in crate `std` (which `bitflags` depends on)' >&2
exit 101
";

/// `drystone build --with systems/words` by a Cargo of the test's own.
fn build_by(cargo: &str, folder: &Path, rest: &[&str]) -> Command {
    let file = folder.join("cargo");
    fs::write(&file, cargo).expect("a temporary folder can be written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let path = std::env::var("PATH").expect("there is one");
    let mut command = Command::new(DRYSTONE);
    command.args(["build", "--with"]).arg(systems().join("words")).args(rest).arg("program.dry");
    command.current_dir(folder).env("CARGO_TARGET_DIR", folder.join("elsewhere"));
    command.env("REAL_CARGO", env!("CARGO")).env("CALLED", folder.join("called"));
    command.env("PATH", format!("{}:{path}", folder.display()));
    command
}

/// A command's output on a terminal, and its status.
fn said_to_a_terminal(mut command: Command) -> (String, Option<i32>) {
    let (mut ours, its) = drystone_golden::terminal();
    let mut child = command.stderr(its).spawn().expect("the command runs");
    drop(command);
    let mut said = Vec::new();
    // Reading a terminal whose other side is closed ends with an error.
    let _ = ours.read_to_end(&mut said);
    (String::from_utf8_lossy(&said).into_owned(), child.wait().expect("it ends").code())
}

/// It builds in the environment's target folder, reports progress, and explains why a crate that needs an operating
/// system can't be built.
#[test]
fn a_long_build_is_followed_and_a_crate_that_needs_a_system_is_named() {
    let folder = folder_with("COMPONENT A; END A;");
    let (said, status) = said_to_a_terminal(build_by(TELLING_CARGO, folder.path(), &["--platform", "pc"]));
    assert_eq!(status, Some(1), "{said}");
    let called = fs::read_to_string(folder.path().join("called")).expect("Cargo was called");
    let elsewhere = folder.path().join("elsewhere");
    assert!(called.contains(&format!("--target-dir {} ", elsewhere.display())), "{called}");
    let told = |count: u8| {
        said.contains(&format!("building words with what a program runs on: {count} of 85 crates compiled"))
    };
    assert!((1..=3).any(told), "{said}");
    assert!(
        said.contains(
            "words can't run without an operating system: it is built with bitflags, which needs \
                       Rust's standard library"
        ),
        "{said}"
    );
    assert!(!said.contains("lang item"), "{said}");
}

/// A Cargo with Cargo's output, and a byte that isn't UTF-8.
const ODD_CARGO: &str = "#!/bin/sh
if [ \"$1\" = metadata ]; then exec \"$REAL_CARGO\" \"$@\"; fi
printf '   Compiling words v0.1.0\\n    Building [==> ] 12/85: words\\r\\377 odd\\r\\nerror: no\\n' >&2
exit 101
";

#[test]
fn what_cargo_complains_of_is_shown_without_its_progress() {
    let folder = folder_with("COMPONENT A; END A;");
    let output = build_by(ODD_CARGO, folder.path(), &[]).output().expect("the command runs");
    assert_eq!(status(&output), 1);
    assert_eq!(
        complaint(&output),
        "building words with what a program runs on\nerror: the crates could not be built:\n\u{FFFD} odd\n\nerror: no\n"
    );
}

#[test]
fn the_chapter_shows_what_the_crate_says() {
    let root = systems().join("..");
    let chapter = fs::read_to_string(root.join("docs/src/native.md")).expect("it is there");
    let mut shown = 0;
    for part in chapter.split("\n`systems/").skip(1) {
        let (path, rest) = part.split_once("`\n```").expect("a path stands before a block");
        let block = rest.split_once('\n').and_then(|(_, code)| code.split_once("\n```")).expect("it ends").0;
        let file = fs::read_to_string(systems().join(path)).expect("the file is there");
        assert!(file.contains(block), "{path} hasn't got this:\n{block}");
        shown += 1;
    }
    assert!(shown > 6, "the chapter shows the crate");
}
