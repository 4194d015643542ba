//! Systems of native components, and the sizes of their parts.

mod hosted;

use std::fs;
use std::path::{Path, PathBuf};

use drystone_emulated::{Kernel, MICROVM};
use tempfile::TempDir;

use crate::with::alone;
use crate::{complaint, drystone, folder_with, printed, programs, status};

const HEADING: &str = r#"IMPORT Kortex, Machine;
COMPONENT {NATIVE "own::Own"} Own OFFERS Machine.Main REQUIRES Kortex.Threads; END Own;
"#;

/// A crate that depends on some of the repository's, with a system beside it.
fn own(dependencies: &[&str], system: &str) -> TempDir {
    let folder = folder_with(&format!("{HEADING}{system}"));
    let dependencies: String = dependencies
        .iter()
        .map(|place| {
            let path = repository().join(place).display().to_string();
            let name =
                if place.starts_with("kortex") { place.replace('/', "-") } else { "drystone-machine".into() };
            format!("{name} = {{ path = {path:?} }}\n")
        })
        .collect();
    let manifest = format!(
        "[package]\nname = \"own\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[dependencies]\n{dependencies}\n\
         [workspace]\n"
    );
    fs::create_dir(folder.path().join("src")).expect("it can be made");
    fs::write(folder.path().join("Cargo.toml"), manifest).expect("it can be written");
    fs::write(folder.path().join("src/lib.rs"), "#![no_std]\n").expect("it can be written");
    folder
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in a folder").to_path_buf()
}

/// The error of building a system.
fn wrong(folder: &Path, arguments: &[&str]) -> (String, i32) {
    let output = drystone(folder, &[&["build"], arguments, &["program.dry", "-o", "image"]].concat());
    assert!(!folder.join("image").exists());
    (complaint(&output), status(&output))
}

const SYSTEM: &str = "
COMPONENT System OFFERS Machine.Main;
VARIABLE
  trap: Kortex.Processor; policy: Kortex.RoundRobin; alone: Kortex.Alone; threads: Kortex.Scheduler; own: Own;
BEGIN
  NEW(trap); NEW(policy); NEW(alone); NEW(threads); NEW(own);
  CONNECT(Policy(threads), policy); CONNECT(Trap(threads), trap); CONNECT(Switch(threads), alone);
  CONNECT(Threads(own), threads); CONNECT(Main, own)
END System;
";

#[test]
fn what_a_system_has_no_meaning_for_is_refused() {
    let folder = own(&[], SYSTEM);
    for (arguments, reason) in [
        (&["--platform", "pc", "--files", "src"][..], "--files is for programs"),
        (&["--platform", "pc", "--mir"], "--mir shows"),
    ] {
        let (said, status) = wrong(folder.path(), arguments);
        assert!(said.contains(reason) && status == 2, "{said}");
    }
    for options in [&["--cores", "2"][..], &["--stats"], &["--control", "socket"]] {
        let output = drystone(folder.path(), &[&["run"], options, &["program.dry"]].concat());
        assert!(complaint(&output).contains("can't be had for a system"), "{}", complaint(&output));
        assert_eq!(status(&output), 2);
    }
}

#[test]
fn what_a_system_is_made_of_has_to_be_there() {
    let _alone = alone();
    let nowhere = folder_with(&format!("{HEADING}{SYSTEM}"));
    let (said, status) = wrong(nowhere.path(), &["--platform", "pc"]);
    assert!(said.contains("its components are from the crate beside it") && status == 1, "{said}");
    let poor = own(&["kortex/hal", "platform/pc/machine"], SYSTEM);
    let (said, status) = wrong(poor.path(), &["--platform", "pc"]);
    assert!(said.contains("no crate kortex_thread is among what it depends on") && status == 1, "{said}");
    let without_main = SYSTEM
        .replace("OFFERS Machine.Main", "OFFERS Kortex.Threads")
        .replace("CONNECT(Main, own)", "CONNECT(Threads, threads)");
    let deaf = own(&["kortex/hal", "kortex/thread", "platform/pc/machine"], &without_main);
    let (said, status) = wrong(deaf.path(), &["--platform", "pc"]);
    assert!(said.contains("System does not offer Machine.Main") && status == 1, "{said}");
}

#[test]
fn a_system_is_drawn() {
    let folder = own(&[], SYSTEM);
    let output = drystone(folder.path(), &["graph", "program.dry", "--dot"]);
    assert_eq!(status(&output), 0, "{}", complaint(&output));
    for part in ["own: Own", "threads: Scheduler", "policy: RoundRobin"] {
        assert!(printed(&output).contains(part), "{part}");
    }
}

/// The lines of a table of sizes: bytes and owners, whose sum must be the total.
fn sizes(table: &str) -> Vec<(u64, String)> {
    let line = |line: &str| {
        let (bytes, rest) = line.trim_start().split_once(' ').expect("bytes come first");
        let (_, whose) = rest.trim_start().split_once(' ').expect("then zeros");
        (bytes.parse().expect("a number"), whose.trim().to_string())
    };
    let mut lines: Vec<(u64, String)> = table.lines().skip(1).map(line).collect();
    let (all, name) = lines.pop().expect("there is a sum");
    assert_eq!((name.as_str(), all), ("all", lines.iter().map(|(bytes, _)| bytes).sum()));
    lines
}

#[test]
fn the_bytes_of_a_program_are_its_components_and_what_it_runs_on() {
    for (platform, of_platform) in [("linux", "drystone_linux"), ("pc", "drystone_machine")] {
        let folder = folder_with("");
        let output = folder.path().join("City");
        let output = output.to_str().expect("a plain path");
        let built =
            drystone(&programs(), &["build", "--sizes", "--platform", platform, "City.dry", "-o", output]);
        assert_eq!((complaint(&built).as_str(), status(&built)), ("", 0));
        let sizes = sizes(&printed(&built));
        for whose in ["City", "Home", "PowerPlant", "drystone_runtime", of_platform] {
            let found = sizes.iter().find(|(_, name)| name == whose);
            assert!(found.is_some_and(|(bytes, _)| *bytes > 300), "{whose}: {sizes:?}");
        }
        assert!(Path::new(output).is_file());
    }
}

/// Builds a system of the repository with a changed text, and returns its sizes; `None` if images can't be built here.
fn built(folder: &Path, name: &str, change: impl Fn(String) -> String) -> Option<Vec<(u64, String)>> {
    let systems = repository().join("systems").join(name.to_lowercase());
    let text = fs::read_to_string(systems.join(format!("{name}.dry"))).expect("it is there");
    fs::write(folder.join("program.dry"), change(text)).expect("it can be written");
    let with = systems.to_str().expect("a plain path");
    let arguments = ["build", "--sizes", "--platform", "pc", "--with", with, "program.dry", "-o", "image"];
    let built = drystone(folder, &arguments);
    if complaint(&built).contains("target may not be installed") {
        drystone_golden::skipped("x86_64-unknown-none: rustup target add x86_64-unknown-none");
        return None;
    }
    assert_eq!(status(&built), 0, "{}", complaint(&built));
    Some(sizes(&printed(&built)))
}

fn has(sizes: &[(u64, String)], whose: &str) -> bool {
    sizes.iter().any(|(_, name)| name == whose)
}

#[test]
fn another_scheduler_is_another_name() {
    let _alone = alone();
    let folder = folder_with("");
    for (policy, others_run) in [("RoundRobin", true), ("Priority", true), ("Cooperative", false)] {
        let change =
            |text: String| text.replace("policy: Kortex.RoundRobin", &format!("policy: Kortex.{policy}"));
        let Some(sizes) = built(folder.path(), "Microkernel", change) else { return };
        for whose in ["kernel: Kernel", "threads: Scheduler", "pages: Buddy", "kortex_hal"] {
            assert!(has(&sizes, whose), "{whose}: {sizes:?}");
        }
        // The cooperative one is so small that the compiler inlines it.
        for other in ["RoundRobin", "Priority", "Cooperative"].into_iter().filter(|&other| other != policy) {
            assert!(!has(&sizes, &format!("policy: {other}")), "{other} beside {policy}: {sizes:?}");
        }
        let kernel = Kernel { image: folder.path().join("image"), users: None };
        let said = match kernel.boot(MICROVM, "attack") {
            Ok(said) => said,
            Err(failed) => return drystone_golden::skipped(&format!("{failed:?}")),
        };
        // An attacker never yields. Which domains run meanwhile depends on the policy; the rest is the same.
        let only_one = said.contains("a domain that never gave way was the only one\n");
        let not_only = said.contains("a domain that never gave way was not the only one\n");
        assert_eq!((only_one, not_only), (!others_run, others_run), "{policy}:\n{said}");
        assert_eq!(said.matches("it is dead\n").count(), 51, "{policy}:\n{said}");
        assert!(said.contains("all threads have ended\n"), "{policy}:\n{said}");
    }
}

#[test]
fn what_nothing_needs_is_not_in_the_image() {
    let _alone = alone();
    let folder = folder_with("");
    // A component offers pages, and none requires any.
    let change = |text: String| {
        let text = text.replace("VARIABLE\n", "VARIABLE pc: Machine.Pc; pages: Kortex.Buddy;\n");
        text.replace("BEGIN\n", "BEGIN NEW(pc); NEW(pages); CONNECT(Memory(pages), pc);\n")
    };
    let Some(sizes) = built(folder.path(), "Blink", change) else { return };
    assert!(has(&sizes, "blink: Blinker") && has(&sizes, "turns.threads: Scheduler"), "{sizes:?}");
    assert!(!has(&sizes, "pages: Buddy") && !has(&sizes, "kortex_binding"), "{sizes:?}");
}

#[test]
fn a_system_runs_in_its_machine() {
    let _alone = alone();
    let output = drystone(&repository().join("systems/blink"), &["run", "--platform", "pc", "Blink.dry"]);
    let said = complaint(&output);
    for missing in ["target may not be installed", "qemu-system-x86_64 was not found"] {
        if said.contains(missing) {
            return drystone_golden::skipped(missing);
        }
    }
    assert_eq!(status(&output), 0, "{said}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "on\noff\non\noff\non\noff\n");
}
