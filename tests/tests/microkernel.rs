//! The kernel of address spaces, threads and calls between domains (`systems/microkernel`), built and booted: what its users must not do is
//! stopped and kills nobody else, and what its bindings cost is counted.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The image and what its users' program takes of it, built by the project's own lock file; `None`: something for that is missing.
fn build() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems/microkernel");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("microkernel");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--release", "--locked", "--target-dir"]).arg(&target).current_dir(&folder);
    for name in ["CARGO_TARGET_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER"] {
        cargo.env_remove(name);
    }
    let built = cargo.output().expect("cargo runs");
    let said = String::from_utf8_lossy(&built.stderr);
    if said.contains("target may not be installed") {
        drystone_golden::skipped("no x86_64-unknown-none (rustup target add x86_64-unknown-none)");
        return None;
    }
    assert!(built.status.success(), "{said}");
    Some(target.join("x86_64-unknown-none/release/microkernel"))
}

/// What the image says when it does that, and its status.
fn boot(image: &Path, machine: &str, what: &str) -> Option<String> {
    let mut emulator = Command::new("timeout");
    emulator.args(["60", "qemu-system-x86_64", "-M", machine, "-accel", "tcg"]);
    // One instruction is one beat of the processor's counter.
    emulator.args(["-cpu", "max,-erms,-fsrm", "-icount", "shift=0,sleep=off", "-m", "256M"]);
    emulator.args(["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"]);
    emulator.args(["-device", "isa-debug-exit,iobase=0xf4,iosize=4"]);
    emulator.args([
        "-chardev",
        "file,id=out,path=/dev/stdout",
        "-device",
        "isa-debugcon,iobase=0xe9,chardev=out",
    ]);
    emulator.arg("-kernel").arg(image).args(["-append", what]).stdin(Stdio::null()).stderr(Stdio::inherit());
    let Ok(done) = emulator.output() else {
        drystone_golden::skipped("no qemu-system-x86_64");
        return None;
    };
    Some(String::from_utf8_lossy(&done.stdout).into_owned())
}

const MICROVM: &str = "microvm,auto-kernel-cmdline=off";

/// Everything of the kernel in one test: it is built once.
#[test]
fn the_microkernel_keeps_its_users_apart_and_costs_what_it_may() {
    if Command::new("qemu-system-x86_64").arg("--version").stdout(Stdio::null()).status().is_err() {
        drystone_golden::skipped("no qemu-system-x86_64");
        return;
    }
    let Some(image) = build() else { return };
    for machine in [MICROVM, "q35"] {
        let Some(said) = boot(&image, machine, "attack") else { return };
        attacks_were_stopped(&said);
    }
    // Domains that call whatever there is with whatever comes: what they write may be anything.
    let Some(said) = boot(&image, MICROVM, "fuzz 30") else { return };
    assert!(said.ends_with("all threads have ended\n\u{1e}status 0\n"), "the kernel didn't live");
    let Some(said) = boot(&image, MICROVM, "measure") else { return };
    assert_eq!(Some(&said), boot(&image, MICROVM, "measure").as_ref(), "counts repeat");
    costs_are_what_they_may(&said);
    has_no_page_to_write_and_run(&image);
}

fn attacks_were_stopped(said: &str) {
    let has = |line: &str| assert!(said.lines().any(|said| said == line), "{line}\nis not in\n{said}");
    has("the honest domain has counted to 20100");
    has("all bad calls were refused");
    has("a domain got some pages, and no more");
    has("a call that never returned was ended");
    has("a domain that never gave way was not the only one");
    has("threads that have ended take nothing");
    has("all threads have ended");
    has("\u{1e}status 0");
    assert!(!said.contains("was not stopped") && !said.contains("error"), "{said}");
    for role in 4..47 {
        let dead = format!("domain attacker {role} has done what it must not: ");
        let of_it = said.lines().filter(|line| line.starts_with(&dead) && line.ends_with("it is dead"));
        assert_eq!(of_it.count(), 1, "attacker {role} is dead, once:\n{said}");
    }
    // One that didn't come back in time, and nobody else.
    assert_eq!(said.matches("domain victim 0 takes too long").count(), 1, "{said}");
    assert_eq!(said.lines().filter(|line| line.starts_with("domain ")).count(), 44, "{said}");
}

/// Instructions that each may take: what was counted when this was written.
const COSTS: [(&str, u64); 10] = [
    ("local binding", 5),
    ("syscall", 53),
    ("optimised syscall", 37),
    ("upcall", 99),
    ("lrpc", 153),
    ("optimised lrpc", 137),
    ("thread switch", 59),
    ("process switch", 61),
    ("exception", 44),
    ("signal", 45),
];

fn costs_are_what_they_may(said: &str) {
    for (name, most) in COSTS {
        let costs = said.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        let costs = costs.unwrap_or_else(|| panic!("{name} is not in\n{said}"));
        assert!(costs > 0 && costs <= most, "{name} takes {costs} instructions, not {most}");
    }
}

/// Bytes that the kernel may take, without its users' program.
const KERNEL: usize = 16 * 1024;

fn has_no_page_to_write_and_run(image: &Path) {
    use object::Endianness;
    use object::elf::{FileHeader64, PF_W, PF_X, PT_LOAD};
    use object::read::elf::{FileHeader, ProgramHeader};
    let bytes = std::fs::read(image).expect("it was built");
    let header = FileHeader64::<Endianness>::parse(&*bytes).expect("an ELF file");
    let endian = header.endian().expect("its byte order");
    let mut loaded = 0;
    for segment in header.program_headers(endian, &*bytes).expect("its segments") {
        if segment.p_type(endian) == PT_LOAD {
            assert_ne!(segment.p_flags(endian) & (PF_W | PF_X), PF_W | PF_X);
            loaded += segment.p_filesz(endian) as usize;
        }
    }
    let users = user_program(image);
    assert!(loaded - users <= KERNEL, "the kernel takes {loaded} bytes with {users} of its users");
}

/// Bytes of the users' program, which lies where the build has put it.
fn user_program(image: &Path) -> usize {
    let builds = image.parent().expect("it is in a folder").join("build");
    let entries = std::fs::read_dir(builds).expect("the build's folder");
    let user = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.expect("an entry").path().join("out/user/x86_64-unknown-none/release/user")
    };
    let newest = entries
        .map(user)
        .filter(|path| path.is_file())
        .max_by_key(|path| path.metadata().and_then(|data| data.modified()).expect("a file has a time"));
    newest.and_then(|path| path.metadata().ok()).expect("the users' program").len() as usize
}
