//! The page of figures about kernels.

use crate::page::{Page, Place, Plot};
use crate::row::Row;

/// The page, with a plot of the instruction counts.
pub fn page(rows: &[Row]) -> Page<'_> {
    let counted = rows.iter().filter(|row| row.unit == "instructions" && row.row != "boot");
    Page {
        subject: "kernel",
        title: "A kernel of components",
        notes: notes(),
        place: |_| Place::Headline,
        reason,
        plots: vec![Plot {
            file: "kernel.svg".into(),
            title: "bindings and switches".into(),
            rows: counted.collect(),
        }],
        sections: &[],
    }
}

fn reason(row: &str) -> Option<&'static str> {
    match row {
        "signal" => Some(
            "19 of these are the way from the kernel to the user, by which all registers are set, and 4 are \
             what the counter itself takes; the paper leaves what is interrupted where the handler can \
             overwrite it, here it stays in the kernel",
        ),
        "page fault composite" => Some(
            "Off++'s calls were checked for debugging and took long, so that two crossings less were a third \
             of the fault; here a crossing takes 20 instructions of 325. The rest is the fault itself, the \
             way to the user's handler and what the three calls do. Where the kernel makes the calls itself, \
             which the paper's didn't, no handler is called",
        ),
        _ => None,
    }
}

fn notes() -> String {
    "Everything runs in QEMU, where one beat of the processor's counter is one instruction (`-icount \
     shift=0,sleep=off`), so all counts are the same in each boot, which is checked. Each is the median of \
     101.\n\n\
     *local binding* is a call from one component of a system to another, of a method that does nothing \
     (`systems/joints`), as the system's text binds the two: a direct call. *compiled in* is the same where \
     the compiler puts the method in the place of its call; *by a table* is a call of an interface that is \
     found at run time, by its table of methods.\n\n\
     The others are those of `systems/microkernel`, its users' own calls among them: the program in \
     `systems/microkernel/user` counts. *syscall* keeps all registers, *optimised syscall* those that calls \
     keep; *lrpc* and *optimised lrpc* are a call from one address space to another by each, and back. \
     *upcall* is the kernel's call of a user and back. *exception* is an instruction by which a user stops, \
     and the way back, with a handler that does nothing; *thread switch* and *process switch* are such an \
     instruction whose handler gives the processor to another thread. *signal* is from where the kernel \
     knows of an exception to the first instruction of the user's handler. The paper's figures are \
     instructions of a PowerPC G4.\n\n\
     *image microkernel* counts what is loaded from the image: the kernel's code, constants and variables, \
     but not the program of its users, which is in the image too. Variables that begin as zeros (stacks, \
     tables of pages) are memory and not in the image: *image microkernel, zeros*.\n\n\
     Linux is Debian's 6.1 for clouds in the same emulator, with `mitigations=off`, and does what comes \
     nearest: getpid for a system call, a signal and the way back for an upcall, a byte there and back \
     between two processes through socketpair and pipe for a call of another address space, and half of a \
     round of `sched_yield` for a switch. *boot* is from the machine's first instruction to the kernel's \
     main function, for Linux to the first instruction of init; *boot, emulator and all* is the whole life \
     of QEMU on this machine, for Linux to the first line of init.\n\n\
     Blocks of calls are those of `systems/blocks`, which is the microkernel with one more component. \
     *interp n* are n calls that do nothing, as an array that the kernel keeps, made by one call; *single \
     calls* are the same one by one, in a loop; *program* is a composite call with a loop that the kernel \
     interprets. *interp lrpc n* are n calls of a server in another address space, which it makes out of \
     memory that both share; *program* is one that it interprets. *page frames n* are so many frames that \
     are taken, which the process had before. *page fault composite* is what a user's page fault takes from \
     the instruction to its end, with a handler that takes a frame, puts it there and goes on by one array, \
     as part of what it takes with a handler that makes these three calls; *page fault by the kernel* is the \
     same where the kernel makes the calls of the array as soon as the page is missed, and the user isn't \
     told.\n"
        .into()
}
