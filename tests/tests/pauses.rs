//! Whatever a process does, others wait for it a few milliseconds at most, also for what the runtime does for it: each
//! program in `pauses` has a component `Hog`, and beside it one that sleeps for a millisecond, again and again, and tells how long
//! it was kept at most.

mod compiled;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Microseconds of the processor: a few time slices, as exactly as the kernel counts. What was never interrupted took far more.
const LONGEST: u64 = 25_000;
/// Milliseconds, on a busy machine.
const LONGEST_KEPT: u64 = 1000;
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
        let least =
            &|cores| least_until_short((0..ATTEMPTS).map(|_| longest(drystone.command(), &program, cores)));
        let both = thread::scope(|scope| {
            ["1", "2"]
                .map(|cores| (cores, scope.spawn(move || least(cores))))
                .map(|(cores, kept)| (cores, kept.join()))
        });
        for (cores, kept) in both {
            let kept = kept.expect("it has told");
            println!("{}, {cores} processors: {kept} µs", name.display());
            if kept > LONGEST {
                late.push(format!("{} on {cores} processors: {kept} µs", name.display()));
            }
        }
    }
    assert!(names.len() > 1 && late.is_empty(), "others were kept waiting:\n{}", late.join("\n"));
}

/// Who writes to a pipe that nobody reads waits, and nobody else: to standard output, and what goes to standard error.
#[test]
fn a_pipe_that_nobody_reads_holds_up_only_who_writes() {
    let Some(drystone) = compiled::Drystone::find() else {
        drystone_golden::skipped("no drystone binary (set DRYSTONE_BIN)");
        return;
    };
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pipes");
    for (name, cores, lines) in
        [("output", "1", 30000), ("output", "2", 30000), ("errors", "1", 3000), ("errors", "2", 3000)]
    {
        let told = scratch(Path::new(&format!("{name}.told")));
        let _ = fs::remove_file(&told);
        let mut command = drystone.command();
        command.args(["run", "--cores", cores]).arg(programs.join(format!("{name}.dry")));
        command.current_dir(told.parent().expect("a folder")).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it runs");
        // Nobody reads what it writes until it has told how long another process was kept, in a file.
        let kept = (0..600).find_map(|_| {
            thread::sleep(Duration::from_millis(50));
            fs::read_to_string(&told).ok()?.parse::<u64>().ok()
        });
        if kept.is_none() {
            child.kill().expect("it runs still");
        }
        let output = child.wait_with_output().expect("it ends");
        assert!(kept.is_some_and(|kept| kept < LONGEST_KEPT), "{name} on {cores} processors: {kept:?} ms");
        // Nothing is lost when it is read after all.
        let written = if name == "output" { &output.stdout } else { &output.stderr };
        let begins: &[u8] = if name == "output" { b"0" } else { b"error:" };
        let written = written.split(|&byte| byte == b'\n').filter(|line| line.starts_with(begins)).count();
        assert_eq!(written, lines, "{name} on {cores} processors");
    }
}

/// How long the other was kept, in milliseconds.
fn longest(mut command: Command, program: &Path, cores: &str) -> u64 {
    let folder = program.with_extension(cores);
    fs::create_dir_all(&folder).expect("a folder");
    command.args(["run", "--cores", cores]).arg(program).current_dir(folder);
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
