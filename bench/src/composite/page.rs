//! The page of figures about composite calls.

use super::{Effort, delays, reasons};
use crate::page::{Page, Place, Plot, Section};
use crate::row::Row;

/// The page, with a plot for each unit.
pub fn page<'a>(rows: &'a [Row], sections: &'a [Section]) -> Page<'a> {
    let plot = |unit, file: &str, title: &str| Plot {
        file: file.into(),
        title: title.into(),
        rows: rows.iter().filter(|row| row.unit == unit && place(row) == Place::Headline).collect(),
    };
    let some = |prefix, file: &str, title: &str| Plot {
        file: file.into(),
        title: title.into(),
        rows: rows.iter().filter(|row| row.row.starts_with(prefix) && !delays::is_delayed(row)).collect(),
    };
    Page {
        subject: "composite",
        title: "Composite calls",
        notes: notes(),
        place,
        reason: reasons::of,
        plots: vec![
            plot("ns", "composite-loops.svg", "a round of two calls"),
            some("calls ", "composite-calls.svg", "so many calls: one by one, shipped, and shipped again"),
            some("file copy ", "composite-copies.svg", "a copy of a file"),
        ],
        sections,
    }
}

/// The sections below the tables, as far as there are rows for them.
pub fn sections(rows: &[Row]) -> Result<Vec<Section>, String> {
    Ok(delays::section(rows)?.into_iter().collect())
}

/// The table of a row: the first one if its name has no prefix.
fn place(row: &Row) -> Place {
    let has_prefix = |prefix: &&str| row.row.starts_with(prefix);
    if delays::is_of_relays(row) {
        // Otherwise it would seem to be a figure of Drystone's.
        Place::Section
    } else if ["plain ", "interpreted ", "calls ", "component "].iter().any(has_prefix) {
        Place::More
    } else {
        Place::Headline
    }
}

/// How the figures are made.
fn notes() -> String {
    let Effort { rounds, .. } = Effort::FULL;
    format!(
        "*break-even* is the smallest number of calls that are done sooner in a block that the server has \
         never seen (it is written, sent, checked, compiled, verified and run) than one by one; *cached* in \
         a block that it knows. *calls N* are the times, over loopback, by a client in Rust that is the same \
         for all three: the paper's Figure 7; *calls N, D* are the same over a network whose round trip \
         takes that much longer, and *round trip, D* is a byte's way there and back over it, without any \
         server of Drystone's. *dependent calls 100* goes from key to key in systems/keyvalue, whose store \
         is on a disk, and in Redis (get by get, and a script by EVALSHA); *component dependent calls* are \
         calls of a component in the language that adds 1. *redis-benchmark* has 50 clients and 10 000 keys; \
         Redis puts on the disk what it acknowledges, as the key-value server does. *file copy* is the \
         paper's copy program at systems/files, by 64 KiB at a time, in memory (/dev/shm); *local* is the \
         same loop without any server, *nfs* a client with libnfs at a real NFS server (nfs-ganesha, version \
         3) whose files are in memory too: it reads and writes 1 MiB at a time, one after the other, and \
         commits what it has written when it closes the file; each of the three is looked at whether the \
         copy is the file. *tree interpreter* is a round of the copy program as a composite call, with a \
         server that does nothing: as a tree, as bytecode and compiled. *compile against* is to write, \
         check, verify and compile that program, beside a run of another compiler for the same loop. Rows of \
         the engines: every one is measured in up to {rounds} rounds. In a round each contender in turn runs \
         in a process of its own, on one processor, after a tenth of the work that isn't measured; a figure \
         is the median of the rounds with their quartiles. What comes out of the loops is compared. *copy \
         loop* is a round of a loop with two calls of nothing, with three arguments each, of which the \
         second has the first's result as one; *instruction loop* is 1.2e8 instructions, four in a round: a \
         product, two sums and a comparison. Drystone's are compiled from verified bytecode as programs of \
         strangers are, with hidden constants and a budget that is asked in each round; *plain* is without \
         hidden constants. *interpreter* is the same copy loop, interpreted, *interpreted instruction loop* \
         the other. *build and verify* is from the slots of the copy program (17 instructions) to a program \
         that engines take, with a verifier that was used before, and *jit* is the same with compilation \
         into executable memory, and giving it back. *c* is the loop by cc -O2, with the calls in a file of \
         their own; *luajit* and *java* call the same two functions; *rbpf* and *sbpf* (Solana's, which also \
         translates addresses and counts instructions) run the same bytecode, *wasmtime* a module with two \
         imports; all are in bench/peers/composite. The verifiers of *rbpf* and *sbpf* look at the shape of \
         a program only, not at what it accesses.\n"
    )
}
