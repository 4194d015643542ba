//! Whatever a process does, others wait for it a few milliseconds at most, also for what the runtime does for it: each
//! program in `pauses` has a component `Hog`, and beside it one that sleeps for a millisecond, again and again, and tells how long
//! it was kept at most.

mod compiled;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Microseconds of the processor: a few time slices, as exactly as the kernel counts. What was never interrupted took far more.
const LONGEST: u64 = 25_000;
/// On a busy machine any process may be kept waiting now and then.
const ATTEMPTS: usize = 6;

#[test]
fn nothing_keeps_others_waiting() {
    let Some(drystone) = compiled::Drystone::find() else {
        drystone_golden::skipped("no drystone binary (set DRYSTONE_BIN)");
        return;
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pauses");
    let read = |name: &Path| fs::read_to_string(name).expect("a program can be read");
    let ticker = read(&folder.join("ticker.dry"));
    let mut late = Vec::new();
    let mut names: Vec<PathBuf> =
        fs::read_dir(&folder).expect("there is one").map(|entry| entry.unwrap().path()).collect();
    names.sort();
    for name in names.iter().filter(|name| !name.ends_with("ticker.dry")) {
        let program = scratch(name);
        fs::write(&program, read(name) + &ticker).expect("it can be written");
        for cores in ["1", "2"] {
            let waits = (0..ATTEMPTS).map(|_| longest(drystone.command(), &program, cores));
            let least = least_until_short(waits);
            println!("{}, {cores} processors: {least} µs", name.file_stem().unwrap().display());
            if least > LONGEST {
                late.push(format!("{} on {cores} processors: {least} µs", name.display()));
            }
        }
    }
    assert!(names.len() > 1 && late.is_empty(), "others were kept waiting:\n{}", late.join("\n"));
}

/// How long the other was kept, in milliseconds.
fn longest(mut command: Command, program: &Path, cores: &str) -> u64 {
    command
        .args(["run", "--cores", cores])
        .arg(program)
        .current_dir(program.parent().expect("it lies somewhere"));
    let output = command.output().expect("it runs");
    let told = String::from_utf8_lossy(&output.stdout);
    let found = told.rsplit_once("longest ").and_then(|(_, rest)| rest.trim().parse().ok());
    let errors = String::from_utf8_lossy(&output.stderr);
    found.unwrap_or_else(|| panic!("{}: {}, {errors}", program.display(), output.status))
}

fn least_until_short(waits: impl Iterator<Item = u64>) -> u64 {
    let mut least = u64::MAX;
    for wait in waits {
        least = least.min(wait);
        if least <= LONGEST {
            break;
        }
    }
    least
}

/// Where this test may write a file.
fn scratch(name: &Path) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pauses");
    fs::create_dir_all(&folder).expect("a folder");
    folder.join(name.file_name().expect("a file"))
}
