//! A domain's calls to the kernel, and the entries that the kernel calls.
//!
//! # Soundness
//!
//! The kernel keeps all registers except the one for its answer. The only memory it accesses is the bytes passed to it,
//! which it reads.

use core::arch::{asm, global_asm};

use drystone_calls::{Ask, DONE, MOST_BYTES, SOON, Stream, TICKS, VECTOR};

fn ask(what: Ask, a: u64, b: u64, c: u64) -> i64 {
    let answer;
    // SAFETY: see the head of this file.
    unsafe {
        asm!(
            "int {vector}",
            vector = const VECTOR,
            inout("rax") what as u64 => answer,
            in("rsi") a,
            in("rdx") b,
            in("r10") c,
            options(nostack),
        );
    }
    answer
}

/// Ends the domain.
pub(crate) fn end(status: i64) -> ! {
    loop {
        ask(Ask::End, status as u64, 0, 0);
    }
}

/// Writes bytes for people.
pub(crate) fn write(stream: Stream, bytes: &[u8]) {
    for some in bytes.chunks(MOST_BYTES) {
        while ask(Ask::Write, stream as u64, some.as_ptr() as u64, some.len() as u64) == SOON {
            rest(0);
        }
    }
}

/// Asks for `pages` more pages. Returns whether they were added.
pub(crate) fn grow(pages: usize) -> bool {
    loop {
        match ask(Ask::Grow, pages as u64, 0, 0) {
            SOON => rest(0),
            answer => return answer == DONE,
        }
    }
}

/// Rests until the bell rings, or for at most `nanoseconds`.
pub(crate) fn rest(nanoseconds: u64) {
    ask(Ask::Rest, nanoseconds, 0, 0);
}

/// Rings the holder's bell.
pub(crate) fn ring() {
    ask(Ask::Ring, 0, 0, 0);
}

// The domain's entry, and the tick handler, which runs on a stack of its own.
global_asm!(
    ".pushsection .text.user_start, \"ax\"",
    ".balign 16",
    ".global user_start",
    "user_start:",
    "call user_main",
    "ud2",
    ".balign {ticks}",
    "cld",
    "call {tick}",
    "xor esi, esi",
    "mov eax, {go_on}",
    "int {vector}",
    "ud2",
    ".popsection",
    ticks = const TICKS,
    tick = sym crate::clock::tick,
    go_on = const Ask::GoOn as u64,
    vector = const VECTOR,
);
