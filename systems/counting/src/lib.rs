//! Counts instructions, where the processor's counter counts them: in an emulator (`-icount shift=0`). What is counted
//! is the median of many rounds, without what the counter itself takes.

#![no_std]
#![cfg(target_arch = "x86_64")]
#![warn(missing_docs)]

use core::arch::x86_64::_rdtsc;

/// How often something is counted.
pub const ROUNDS: usize = 101;

/// The median of what something takes.
pub fn median(mut something: impl FnMut() -> u64) -> u64 {
    let mut counts = [0; ROUNDS];
    for count in &mut counts {
        *count = something();
    }
    counts.sort_unstable();
    counts[ROUNDS / 2]
}

/// What the counter says.
pub fn now() -> u64 {
    // SAFETY: nothing keeps a program from reading the counter on a machine that begins, and kernels here leave it so.
    unsafe { _rdtsc() }
}

/// The instructions that something takes.
#[inline(always)]
pub fn measure(something: impl Fn()) -> u64 {
    let with = median(|| {
        let start = now();
        something();
        now() - start
    });
    let without = median(|| {
        let start = now();
        now() - start
    });
    with - without
}

