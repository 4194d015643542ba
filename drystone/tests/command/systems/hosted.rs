//! Systems as processes: they do the same as on the machine, and debuggers know their symbols.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use drystone_emulated::emulator;
use tempfile::TempDir;

use super::repository;
use crate::with::alone;
use crate::{DRYSTONE, complaint, drystone, folder_with, printed, status};

/// Whether something is missing here, without which this can't be tested.
fn is_missing(output: &Output) -> bool {
    let is_missing = complaint(output).contains("target may not be installed");
    if is_missing {
        drystone_golden::skipped("x86_64-unknown-none: rustup target add x86_64-unknown-none");
    }
    is_missing
}

/// Builds a system as a process, `system` in its folder.
fn built(folder: &Path, file: &Path) -> bool {
    let output =
        Command::new(DRYSTONE).arg("build").arg(file).args(["-o", "system"]).current_dir(folder).output();
    let output = output.expect("the command runs");
    let is_there = !is_missing(&output);
    assert!(!is_there || status(&output) == 0, "{}", complaint(&output));
    is_there
}

/// Its output with these words on its command line, and this standard input.
fn run(folder: &Path, words: &str, input: &str) -> Output {
    let mut system = Command::new("timeout");
    system.args(["600", "./system"]).args(words.split_whitespace()).current_dir(folder);
    system.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut system = system.spawn().expect("it was built");
    let written = system.stdin.take().expect("it is piped").write_all(input.as_bytes());
    // It may end before it has read all of it.
    let _ = written;
    system.wait_with_output().expect("it ends")
}

fn microkernel() -> std::path::PathBuf {
    repository().join("systems/microkernel/Microkernel.dry")
}

/// The lines of the output as a set, without addresses: an emulator jumps where a processor doesn't before it notices
/// that nothing is mapped there.
fn lines(said: &str) -> BTreeSet<String> {
    let of_it = said.lines().filter(|line| !line.is_empty()).map(|line| {
        let words = line.split(' ').filter(|word| !word.starts_with("0x"));
        words.collect::<Vec<_>>().join(" ")
    });
    of_it.collect()
}

#[test]
fn the_microkernel_is_a_process() {
    let _alone = alone();
    let folder = folder_with("");
    if !built(folder.path(), &microkernel()) {
        return;
    }
    let attacked = run(folder.path(), "attack", "");
    let said = complaint(&attacked);
    assert_eq!((printed(&attacked).as_str(), status(&attacked)), ("", 0), "{said}");
    for role in 4..52 {
        let dead = format!("domain attacker {role} has done what it must not: ");
        assert_eq!(said.matches(&dead).count(), 1, "attacker {role} is dead, once:\n{said}");
    }
    assert!(said.contains("the honest domain has counted to 20100\n"), "{said}");
    assert!(said.ends_with("all threads have ended\n") && !said.contains("was not stopped"), "{said}");
    let measured = run(folder.path(), "measure", "");
    let names = complaint(&measured);
    for name in ["boot", "syscall", "lrpc", "upcall", "exception", "thread switch", "signal"] {
        assert!(names.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}: {names}");
    }
    let fuzzed = run(folder.path(), "fuzz 10", "");
    let ends = complaint(&fuzzed).ends_with("all threads have ended\n");
    assert!(ends && status(&fuzzed) == 0, "{}", complaint(&fuzzed));
    if emulator().is_err() {
        return drystone_golden::skipped("no QEMU for x86-64");
    }
    let kernel =
        drystone_emulated::Kernel::build(Command::new(DRYSTONE), "microkernel").expect("it was built");
    let booted = kernel.boot(drystone_emulated::MICROVM, "attack").expect("there is an emulator");
    let ends_well = "\u{1e}status 0";
    assert!(booted.lines().any(|line| line == ends_well), "{booted}");
    // A process always has vector registers: code that uses them goes on to its breakpoint.
    let [here, there] =
        ["3", "6"].map(|vector| format!("attacker 51 has done what it must not: exception {vector} "));
    assert!(said.contains(&here), "{said}");
    assert_eq!(lines(&said.replace(&here, &there)), lines(&booted.replace(ends_well, "")));
}

#[test]
fn the_system_of_blocks_is_a_process() {
    let _alone = alone();
    let folder = folder_with("");
    if !built(folder.path(), &repository().join("systems/blocks/Blocks.dry")) {
        return;
    }
    let tried = run(folder.path(), "blocks", "");
    let said = complaint(&tried);
    assert_eq!((printed(&tried).as_str(), status(&tried)), ("", 0), "{said}");
    assert!(said.ends_with("all threads have ended\n") && !said.contains("wrong"), "{said}");
    if emulator().is_err() {
        return drystone_golden::skipped("no QEMU for x86-64");
    }
    let kernel = drystone_emulated::Kernel::build(Command::new(DRYSTONE), "blocks").expect("it was built");
    let booted = kernel.boot(drystone_emulated::MICROVM, "blocks").expect("there is an emulator");
    // Times and numbers of slices differ.
    let without_times = |said: &str| {
        let mut lines = lines(said);
        lines.retain(|line| !["longest ", "slices "].iter().any(|count| line.starts_with(count)));
        lines
    };
    assert_eq!(without_times(&said), without_times(&booted.replace("\u{1e}status 0", "")));
}

#[test]
fn a_debugger_shows_the_kernel_as_it_was_written() {
    if Command::new("gdb").arg("--version").output().is_err() {
        return drystone_golden::skipped("gdb: Debian and Ubuntu have it in gdb");
    }
    let _alone = alone();
    let folder = folder_with("");
    if !built(folder.path(), &microkernel()) {
        return;
    }
    let file = repository().join("systems/microkernel/src/kernel.rs");
    let text = fs::read_to_string(file).expect("it is there");
    let place = text.lines().position(|line| line.contains("\" has done what it must not: exception \""));
    let place = place.expect("there the kernel says so") + 1;
    let stop = format!("break kernel.rs:{place}");
    let commands = [
        "set debuginfod enabled off",
        "handle SIGSEGV SIGILL SIGALRM nostop noprint pass",
        &stop,
        "run attack",
        "backtrace",
        "next",
        "kill",
        "delete",
        "run measure",
    ];
    let mut gdb = Command::new("timeout");
    gdb.args(["120", "gdb", "-nx", "-batch"]).args(commands.iter().flat_map(|command| ["-ex", command]));
    let output = gdb.arg("system").current_dir(folder.path()).stdin(Stdio::null()).output();
    let said = printed(&output.expect("it was there"));
    let has = |what: &str| assert!(said.contains(what), "{what}\nis not in\n{said}");
    has(&format!("kernel.rs:{place}\n"));
    // It is called by the kernel's entry code for exceptions, which has no caller.
    has("in kortex_exception ()\n");
    has(&format!("\n{place}\t{}\n", text.lines().nth(place - 1).expect("it is there")));
    assert!(said.contains(&format!("\n{}\t", place + 2)), "it goes on to the next statement:\n{said}");
    assert!(said.contains("exited normally"), "{said}");
}

const WAYS: &str = r#"IMPORT Machine;
COMPONENT {NATIVE "own::Own"} Own OFFERS Machine.Main REQUIRES Machine.Platform; END Own;
COMPONENT System OFFERS Machine.Main;
VARIABLE pc: Machine.Pc; own: Own;
BEGIN NEW(pc); NEW(own); CONNECT(Platform(own), pc); CONNECT(Main, own)
END System;
"#;

/// A kernel that ends in the way that its command line says.
fn ways() -> TempDir {
    let folder = super::own(&["kortex/hal", "platform/pc/machine"], "");
    fs::write(folder.path().join("program.dry"), WAYS).expect("it can be written");
    fs::write(folder.path().join("src/lib.rs"), include_str!("ways.rs")).expect("it can be written");
    folder
}

/// The errors of a program or its build, without the message that another test's Cargo was waited for.
fn own_complaint(output: &Output) -> String {
    let said = complaint(output);
    said.split_inclusive('\n').filter(|line| !line.ends_with("waiting for another Cargo to end\n")).collect()
}

#[test]
fn a_system_ends_as_on_the_machine() {
    let _alone = alone();
    let folder = ways();
    if !built(folder.path(), Path::new("program.dry")) {
        return;
    }
    let echoed = run(folder.path(), "echo", "so it says\n");
    assert_eq!((printed(&echoed).as_str(), status(&echoed)), ("it runs\nSO IT SAYS\nit has gone on\n", 1));
    let heard = run(folder.path(), "hear", "so it says\n");
    assert_eq!((printed(&heard).as_str(), status(&heard)), ("it runs\nSO IT SAYS\n", 3));
    // The emulator counts differently here.
    let interrupted = run(folder.path(), "interrupt", "");
    assert!(complaint(&interrupted).contains("exception 13 (0x302)"), "{}", complaint(&interrupted));
    for (way, expected) in [
        ("status", 7),
        ("negative", 255),
        ("nothing", 101),
        ("nowhere", 101),
        ("code", 101),
        ("constant", 101),
        ("data", 101),
        ("deep", 101),
        ("no instruction", 101),
        ("breakpoint", 101),
        ("divide", 101),
        ("what it is told", 1),
    ] {
        let here = run(folder.path(), way, "");
        assert_eq!(status(&here), expected, "{way}: {}", complaint(&here));
        if emulator().is_err() {
            drystone_golden::skipped("no QEMU for x86-64");
            continue;
        }
        let arguments =
            [&["run", "--platform", "pc", "program.dry"][..], &way.split(' ').collect::<Vec<_>>()];
        let there = drystone(folder.path(), &arguments.concat());
        // Equal down to the last address: it is the same image.
        let said = |output: &Output| (printed(output), own_complaint(output), status(output) & 0xff);
        assert_eq!(said(&here), said(&there), "{way}");
    }
}

#[test]
fn what_a_process_cannot_be_is_said() {
    let _alone = alone();
    let output = drystone(&repository().join("systems/blink"), &["run", "Blink.dry"]);
    if is_missing(&output) {
        return;
    }
    assert_eq!(status(&output), 0, "{}", complaint(&output));
    assert_eq!(printed(&output), "on\noff\non\noff\non\noff\n");
    let memory = ["run", "--memory", "3G", "Blink.dry"];
    let output = drystone(&repository().join("systems/blink"), &memory);
    assert!(complaint(&output).contains("bytes of memory at most"), "{}", complaint(&output));
    assert_eq!(status(&output), 101);
}
