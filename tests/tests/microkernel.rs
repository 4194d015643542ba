//! The kernel of address spaces, threads and calls between domains (`systems/microkernel`), built and booted: what its
//! users must not do is stopped and kills nobody else, and what its bindings cost is counted.

mod compiled;

use drystone_emulated::{Failed, Kernel, MICROVM, Q35, count, emulator};

/// Everything of the kernel in one test: it is built once.
#[test]
fn the_microkernel_keeps_its_users_apart_and_costs_what_it_may() {
    let drystone = || compiled::Drystone::find().ok_or(Failed::Missing("drystone: set DRYSTONE_BIN".into()));
    let built = emulator().and_then(|_| Kernel::build(drystone()?.command(), "microkernel"));
    match built.and_then(|kernel| check(&kernel)) {
        Ok(()) => {}
        Err(Failed::Missing(what)) => drystone_golden::skipped(&what),
        Err(Failed::Wrong(why)) => panic!("{why}"),
    }
}

/// Bytes that the kernel may take.
const KERNEL: usize = 16 * 1024;

fn check(kernel: &Kernel) -> Result<(), Failed> {
    for machine in [MICROVM, Q35] {
        attacks_were_stopped(&kernel.boot(machine, "attack")?);
    }
    // Domains that call whatever there is with whatever comes: what they write may be anything.
    let said = kernel.boot(MICROVM, "fuzz 30")?;
    assert!(said.ends_with("all threads have ended\n\u{1e}status 0\n"), "the kernel didn't live");
    let said = kernel.boot(MICROVM, "measure")?;
    assert_eq!(said, kernel.boot(MICROVM, "measure")?, "counts repeat");
    for (name, most) in COSTS {
        let costs = count(&said, name).unwrap_or_else(|| panic!("{name} is not in\n{said}"));
        assert!(costs > 0 && costs <= most, "{name} takes {costs} instructions, not {most}");
    }
    let bytes = kernel.size()?.loaded;
    assert!(bytes <= KERNEL, "the kernel takes {bytes} bytes");
    Ok(())
}

fn attacks_were_stopped(said: &str) {
    let has = |line: &str| assert!(said.lines().any(|said| said == line), "{line}\nis not in\n{said}");
    has("the honest domain has counted to 20100");
    has("all bad calls were refused");
    has("a domain got some pages, and no more");
    has("a call that never returned was ended");
    has("a domain that never gave way was not the only one");
    has("threads that have ended take nothing");
    has("a handler is ended by its own domain only");
    has("a server's handler ends with it");
    has("a client is told, whatever its server was");
    has("all threads have ended");
    has("\u{1e}status 0");
    assert!(!said.contains("was not stopped") && !said.contains("error"), "{said}");
    for role in 4..52 {
        let dead = format!("domain attacker {role} has done what it must not: ");
        let of_it = said.lines().filter(|line| line.starts_with(&dead) && line.ends_with("it is dead"));
        assert_eq!(of_it.count(), 1, "attacker {role} is dead, once:\n{said}");
    }
    let undefined = "domain attacker 51 has done what it must not: exception 6";
    assert!(said.contains(undefined), "vector registers are nobody's:\n{said}");
    // One that didn't come back in time, two that did what they must not when they were called, and nobody else.
    assert_eq!(said.matches("domain victim 0 takes too long").count(), 1, "{said}");
    assert_eq!(said.matches("domain victim 0 has done what it must not").count(), 2, "{said}");
    assert_eq!(said.lines().filter(|line| line.starts_with("domain ")).count(), 51, "{said}");
}

/// What a call from one component of a system to another takes.
#[test]
fn calls_within_a_system_cost_what_they_may() {
    let drystone = || compiled::Drystone::find().ok_or(Failed::Missing("drystone: set DRYSTONE_BIN".into()));
    let built = emulator().and_then(|_| Kernel::build(drystone()?.command(), "joints"));
    match built.and_then(|kernel| kernel.boot(MICROVM, "")) {
        Ok(said) => {
            assert_eq!(count(&said, "local binding, compiled in"), Some(0), "{said}");
            for way in ["local binding", "local binding by a table"] {
                assert!((1..=3).contains(&count(&said, way).expect(way)), "{said}");
            }
        }
        Err(Failed::Missing(what)) => drystone_golden::skipped(&what),
        Err(Failed::Wrong(why)) => panic!("{why}"),
    }
}

/// Blocks of calls: the same kernel with one more component.
#[test]
fn the_microkernel_makes_blocks_of_calls_by_one() {
    let drystone = || compiled::Drystone::find().ok_or(Failed::Missing("drystone: set DRYSTONE_BIN".into()));
    let built = emulator().and_then(|_| Kernel::build(drystone()?.command(), "blocks"));
    match built.and_then(|kernel| check_blocks(&kernel)) {
        Ok(()) => {}
        Err(Failed::Missing(what)) => drystone_golden::skipped(&what),
        Err(Failed::Wrong(why)) => panic!("{why}"),
    }
}

fn check_blocks(kernel: &Kernel) -> Result<(), Failed> {
    attacks_were_stopped(&kernel.boot(MICROVM, "attack")?);
    let said = kernel.boot(MICROVM, "fuzz 30")?;
    assert!(said.ends_with("all threads have ended\n\u{1e}status 0\n"), "the kernel didn't live");
    for machine in [MICROVM, Q35] {
        blocks_do_what_they_may(&kernel.boot(machine, "blocks")?);
    }
    let said = kernel.boot(MICROVM, "interp")?;
    assert_eq!(said, kernel.boot(MICROVM, "interp")?, "counts repeat");
    for (name, most) in BLOCKS {
        let costs = count(&said, name).unwrap_or_else(|| panic!("{name} is not in\n{said}"));
        assert!(costs > 0 && costs <= most, "{name} takes {costs} instructions, not {most}");
    }
    let of = |name: &str| count(&said, name).unwrap_or_else(|| panic!("{name} is not in\n{said}"));
    for (block, single) in [
        ("interp 10", "single calls 10"),
        ("interp 100", "single calls 100"),
        ("page frames 10", "page frames 10 single"),
        ("page frames 100", "page frames 100 single"),
        ("page fault composite", "page fault single"),
        ("interp lrpc 10", "single lrpc 10"),
    ] {
        assert!(of(block) < of(single), "{block} is to be quicker than {single}:\n{said}");
    }
    Ok(())
}

fn blocks_do_what_they_may(said: &str) {
    for line in [
        "arrays do what they may, and no more",
        "page frames are its own, and nobody else's",
        "a signal has aborted a program in its loop, by Kernel",
        "a signal has aborted a program in its loop, by Server",
        "programs that never end are stopped, and go on when they may",
        // Beside which there was another process.
        "the honest domain has counted to 20100",
        "the kernel says: trees only are taken, which can be checked in no time: send that which was compiled",
        "hostile programs and requests were refused",
        "runs are left behind",
        "a program is known that another process has sent",
        "blocks for a server are made, or refused",
        "a server runs programs, or refuses them",
        "a server has stopped programs that never end, and lives",
        "thousands of arrays were kept, and given back",
        "thousands of channels were had, and given back",
        "arrays that handle no page fault are refused, or their domain is told",
        "a server that lies is believed nothing",
        "blocks that are changed while they are made hurt nobody else",
        "all threads have ended",
        "\u{1e}status 0",
    ] {
        assert!(said.lines().any(|said| said == line), "{line}\nis not in\n{said}");
    }
    assert!(!said.contains("wrong") && !said.contains("error"), "{said}");
    let honest = said.matches("the honest domain has counted to 20100\n").count();
    assert_eq!(honest, 5, "all of those went on that were beside:\n{said}");
    let mut dead: Vec<&str> = said
        .lines()
        .filter(|line| line.ends_with("it is dead"))
        .filter_map(|line| line.split(" has done what it must not: exception 14 at").next())
        .collect();
    dead.sort_unstable();
    let users = [101, 102, 105, 107, 108, 110, 111, 112, 114].map(|role| format!("domain user {role}"));
    // More than there are channels, if those of who has gone aren't for others.
    let passing = ["domain user 115"; 80];
    let expected: Vec<&str> =
        ["domain server 0"].into_iter().chain(users.iter().map(String::as_str)).chain(passing).collect();
    assert_eq!(dead, expected, "those are dead that did what they must not:\n{said}");
    // As a process of a busy machine it is told late that time has passed, but here beats are counted.
    let slices = count(said, "slices").expect("it is told");
    assert!(slices > 3, "{slices} slices");
    // A tenth of a millisecond, and what the last call or the last rounds in it took.
    let longest = count(said, "longest slice").expect("it is told");
    let call = count(said, "longest call").expect("it is told");
    assert!(
        longest <= 100_000 + call,
        "the kernel wasn't interrupted for {longest} beats, and a call takes {call}"
    );
    let longest = count(said, "longest slice of long rounds, by Kernel").expect("it is told");
    assert!(longest <= 150_000, "the kernel wasn't interrupted for {longest} beats");
}

/// Instructions that each may take: what was counted when this was written.
const COSTS: [(&str, u64); 11] = [
    ("syscall", 53),
    ("optimised syscall", 37),
    ("upcall", 100),
    ("lrpc", 154),
    ("optimised lrpc", 138),
    ("thread switch", 60),
    ("process switch", 62),
    ("exception", 45),
    ("signal", 44),
    ("exception, signal and back", 195),
    ("boot", 210_000),
];

/// The same of blocks of calls.
const BLOCKS: [(&str, u64); 21] = [
    ("interp 1", 63),
    ("interp 10", 198),
    ("interp 100", 1548),
    ("page frames 1", 79),
    ("page frames 10", 313),
    ("page frames 100", 2653),
    ("page fault single", 325),
    ("page fault composite", 285),
    ("page fault by the kernel", 201),
    ("interp lrpc 1", 190),
    ("interp lrpc 100", 2566),
    ("interp lrpc 1 program", 7_000),
    ("interp lrpc 10 program", 20_500),
    ("interp lrpc 100 program", 158_000),
    ("ship a program of 352 bytes", 62_000),
    ("interp program 1", 5_500),
    ("interp program 10", 18_500),
    ("interp program 100", 150_000),
    ("page frames 100 program", 130_000),
    ("learn a program of 352 bytes", 60_000),
    ("keep an array of 100", 6_500),
];
