//! The page of this subject.

use std::fmt::Write;

use super::published::SEL4;
use crate::page::{Page, Place, Plot, Section};
use crate::row::Row;

/// With a plot of what is counted in instructions.
pub fn page<'a>(rows: &'a [Row], sections: &'a [Section]) -> Page<'a> {
    let counted = rows.iter().filter(|row| row.unit == "instructions" && row.row != "boot");
    Page {
        subject: "kernel",
        title: "A kernel of components",
        notes: notes(),
        place: |_| Place::Headline,
        reason,
        plots: vec![Plot {
            file: "kernel.svg".into(),
            title: "bindings and switches, in instructions".into(),
            rows: counted.collect(),
        }],
        sections,
    }
}

/// What others have published.
pub fn sections() -> Vec<Section> {
    let mut text = String::from("| what | processor | cycles |\n|---|---|---|\n");
    for published in SEL4 {
        let _ = writeln!(text, "| {} | {} | {} |", published.what, published.processor, published.cycles);
    }
    text += "\nFrom Heiser and Elphinstone, *L4 Microkernels: The Lessons from 20 Years of Research and Deployment*, ACM TOCS 34(1), \
             2016. A call and its reply are two messages. These are cycles of real processors, which can't be compared with instructions \
             of an emulated one; they are here because who reads this asks for them, and are quoted from memory.\n";
    vec![Section { title: "seL4, as published", text, plot: None }]
}

fn reason(row: &str) -> Option<&'static str> {
    match row {
        "signal" => Some(
            "19 of these are the way from the kernel to the user, by which all registers are set, and 4 are what the counter itself \
             takes; the paper leaves what is interrupted where the handler can overwrite it, here it stays in the kernel",
        ),
        "page fault composite" => Some(
            "Off++'s calls were checked for debugging and took long, so that two crossings less were a third of the fault; here a crossing \
             takes 20 instructions of 325. The rest is the fault itself, the way to the user's handler and what the three calls do. Where the \
             kernel makes the calls itself, which the paper's didn't, no handler is called",
        ),
        _ => None,
    }
}

fn notes() -> String {
    "Everything runs in QEMU, where one beat of the processor's counter is one instruction (`-icount shift=0,sleep=off`), so all counts \
     are the same in each boot, which is checked. Drystone's are those of `systems/microkernel`, its users' own calls among them: the \
     program in `systems/microkernel/user` counts, 101 rounds each. *syscall* keeps all registers, *optimised syscall* those that calls \
     keep; *lrpc* and *optimised lrpc* are a call from one address space to another by each, and back. *upcall* is the kernel's call of \
     a user and back. *exception* is an instruction by which a user stops, and the way back, with a handler that does nothing; *thread \
     switch* and *process switch* are such an instruction whose handler gives the processor to another thread. *signal* is from where the kernel \
     knows of an exception to the first instruction of the user's handler. The paper's figures are instructions of a PowerPC G4.\n\n\
     Linux is Debian's 6.1 for clouds in the same emulator, with `mitigations=off`, and does what comes nearest: getpid for a system \
     call, a signal and the way back for an upcall, a byte there and back between two processes through socketpair and pipe for a call \
     of another address space, and half of a round of `sched_yield` for a switch. *boot* is from the machine's first instruction to the \
     kernel's main function, for Linux to the first instruction of init; *boot, emulator and all* is the whole life of QEMU on this \
     machine, for Linux to the first line of init.\n\n\
     Blocks of calls are those of `systems/blocks`, which is the microkernel with one more component. *interp n* are n calls that do nothing, as \
     an array that the kernel keeps, made by one call; *single calls* are the same one by one, in a loop; *program* is a composite call with a loop \
     that the kernel interprets. *interp lrpc n* are n calls of a server in another address space, which it makes out of memory that both \
     share; *program* is one that it interprets. *page frames n* are so many frames that are taken, which the process had before. *page fault \
     composite* is what a user's page fault takes from the instruction to its end, with a handler that takes a frame, puts it there and goes on by \
     one array, as part of what it takes with a handler that makes these three calls; *page fault by the kernel* is the same where the kernel makes \
     the calls of the array as soon as the page is missed, and the user isn't told.\n"
        .into()
}
