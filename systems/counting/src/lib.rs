//! Counts instructions in an emulator where the processor's counter counts them (`-icount shift=0`). A measure is the
//! median of many rounds, less the cost of reading the counter.

#![no_std]
#![cfg(target_arch = "x86_64")]
#![warn(missing_docs)]

use core::arch::x86_64::_rdtsc;

/// Rounds of a measure.
pub const ROUNDS: usize = 101;

/// The median of a measure over all rounds.
pub fn median(mut something: impl FnMut() -> u64) -> u64 {
    let mut counts = [0; ROUNDS];
    for count in &mut counts {
        *count = something();
    }
    counts.sort_unstable();
    counts[ROUNDS / 2]
}

/// The processor's counter.
pub fn now() -> u64 {
    // SAFETY: nothing keeps a program from reading the counter on a machine that begins, and kernels here leave it so.
    unsafe { _rdtsc() }
}

/// The instructions that a function takes.
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

