//! The program of a dispatcher: finds the flow of a message, counts a run for its owner, and jumps to the handler's
//! program.

use std::os::fd::{AsRawFd, OwnedFd};

use drystone_extension::bytecode::{OWN_LICENCE, assemble};
use drystone_extension::demux::{Classifier, NoCode};

use super::ledger::{FLOWS, Ledger, OWNERS, OWNERS_AT, SHIFT, flow, owner};
use super::programs::Programs;
use crate::bpf;

/// Loads the program for filters with the numbers of their flows.
///
/// # Errors
/// The filters can't be compiled for the kernel, or the kernel refuses the program.
pub(super) fn load(
    classifier: &Classifier<u16, NoCode>,
    ledger: &Ledger,
    programs: &Programs,
) -> Result<OwnedFd, String> {
    let text = classifier.to_ebpf(|number| *number)? + &admission(ledger, programs);
    let slots =
        assemble(&text).map_err(|error| format!("these filters are too many for a dispatcher: {error}"))?;
    bpf::load_xdp("dispatcher", OWN_LICENCE, &slots)
}

/// The rest of the program, when r7 is the flow's number, and r6 the context.
fn admission(ledger: &Ledger, programs: &Programs) -> String {
    let (ledger, programs) = (ledger.map.fd().as_raw_fd(), programs.map.fd().as_raw_fd());
    let (last_flow, last_owner) = (FLOWS - 1, OWNERS - 1);
    let (whose, runs, lazily, missed) = (flow::OWNER, flow::RUNS, flow::LAZILY, flow::MISSED);
    let (most, window, used) = (owner::RUNS, owner::WINDOW, owner::USED);
    format!(
        "       and %r7, {last_flow}
                jeq %r7, 0, pass
                # r8 is what is said of the flow, r9 of its owner.
                mov %r8, %r7
                lsh %r8, {SHIFT}
                lddw %r1, map_val(map_by_fd({ledger}))
                add %r8, %r1
                ldxdw %r9, [%r8+{whose}]
                and %r9, {last_owner}
                lsh %r9, {SHIFT}
                lddw %r1, map_val(map_by_fd({ledger}))+{OWNERS_AT}
                add %r9, %r1
                # ktime_get_ns; the window's number goes where it is in what was used.
                call 5
                ldxdw %r1, [%r9+{window}]
                div %r0, %r1
                lsh %r0, 32
                ldxdw %r2, [%r9+{used}]
                mov %r3, %r2
                rsh %r3, 32
                lsh %r3, 32
                jeq %r3, %r0, same
                # Another window begins, unless another processor has begun it already.
                mov %r3, %r0
                mov %r0, %r2
                lock cmpxchg [%r9+{used}], %r3
                ja claim
            same:
                # Who has used up its share counts no more, so that the window's number stays as it is.
                mov32 %r2, %r2
                ldxdw %r1, [%r9+{most}]
                jge %r2, %r1, lazily
            claim:
                mov %r2, 1
                lock fetch_add [%r9+{used}], %r2
                mov32 %r2, %r2
                ldxdw %r1, [%r9+{most}]
                jge %r2, %r1, lazily
                mov %r1, 1
                lock add [%r8+{runs}], %r1
                # tail_call, which comes back only if there is no program.
                mov %r1, %r6
                lddw %r2, map_by_fd({programs})
                mov %r3, %r7
                call 12
                mov %r1, -1
                lock add [%r8+{runs}], %r1
                mov %r1, 1
                lock add [%r8+{missed}], %r1
                ja pass
            lazily:
                mov %r1, 1
                lock add [%r8+{lazily}], %r1
            pass:
                mov %r0, 2
                exit
        "
    )
}
