//! Whatever a process does, others wait for it a few milliseconds at most, also for what the runtime does for it: each
//! program in `pauses` has a component `Hog`, and beside it one that sleeps for a millisecond, again and again, and
//! tells how long it was kept at most.

mod compiled;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// Microseconds of the processor: a few time slices, as exactly as the kernel counts. What was never interrupted took
/// far more.
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

/// Who writes to a pipe or a terminal that nobody reads waits, and nobody else: to standard output, and what goes to
/// standard error.
#[test]
fn who_is_not_read_holds_up_only_who_writes() {
    let Some(drystone) = compiled::Drystone::find() else {
        drystone_golden::skipped("no drystone binary (set DRYSTONE_BIN)");
        return;
    };
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pipes");
    for ((name, lines), cores, ends) in [
        (("output", 30000), "1", pipe as fn() -> Ends),
        (("output", 30000), "2", pipe),
        (("output", 30000), "2", terminal),
        (("errors", 3000), "1", pipe),
        (("errors", 3000), "2", pipe),
        (("errors", 3000), "1", terminal),
    ] {
        let told = scratch(Path::new(&format!("{name}.told")));
        let _ = fs::remove_file(&told);
        let (mut reader, writer) = ends();
        let mut command = drystone.command();
        command.args(["run", "--cores", cores]).arg(programs.join(format!("{name}.dry")));
        command.current_dir(told.parent().expect("a folder")).stdout(Stdio::null()).stderr(Stdio::null());
        if name == "output" {
            command.stdout(writer)
        } else {
            command.stderr(writer)
        };
        let mut child = command.spawn().expect("it runs");
        // Its end is the last one.
        drop(command);
        // Nobody reads what it writes until it has told how long another process was kept, in a file.
        let kept = (0..600).find_map(|_| {
            thread::sleep(Duration::from_millis(50));
            fs::read_to_string(&told).ok()?.parse::<u64>().ok()
        });
        if kept.is_none() {
            child.kill().expect("it runs still");
        }
        let mut written = Vec::new();
        // A terminal whose other side has gone ends with an error.
        let _ = reader.read_to_end(&mut written);
        child.wait().expect("it ends");
        assert!(kept.is_some_and(|kept| kept < LONGEST_KEPT), "{name} on {cores} processors: {kept:?} ms");
        // Nothing is lost when it is read after all.
        let begins: &[u8] = if name == "output" { b"0" } else { b"error:" };
        let written = written.split(|&byte| byte == b'\n').filter(|line| line.starts_with(begins)).count();
        assert_eq!(written, lines, "{name} on {cores} processors");
    }
}

/// Of what a program writes to: where that is read, and where it is written.
type Ends = (Box<dyn Read>, Stdio);

fn pipe() -> Ends {
    let (reader, writer) = std::io::pipe().expect("there are pipes");
    (Box::new(reader), writer.into())
}

fn terminal() -> Ends {
    let (ours, its) = drystone_golden::terminal();
    (Box::new(ours), its.into())
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
