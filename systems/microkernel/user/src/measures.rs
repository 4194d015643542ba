//! Measures bindings to the kernel and to other domains, in instructions.

use core::arch::asm;

use counting::{ROUNDS, measure, median, now};

use crate::calls::{self, Number, call, plain_call};
use crate::say;

/// When the signal handler began.
static mut TOLD: u64 = 0;

extern "C" fn told(_: u64, _: u64, at: u64) -> u64 {
    // SAFETY: nobody else is told.
    unsafe { TOLD = now() };
    at
}

/// Yields as often as it is measured.
pub extern "C" fn give_way() {
    (0..ROUNDS + 1).for_each(|_| calls::give_way());
}

pub fn all() {
    assert_eq!(call(Number::Nothing, 0, 0), 42);
    say!("syscall {}", measure(|| _ = plain_call(Number::Nothing, 0, 0)));
    say!("optimised syscall {}", measure(|| _ = call(Number::Nothing, 0, 0)));
    assert_eq!(call(Number::Server, 0, 0), 42);
    assert_eq!(call(Number::Server, 1, 6), 7);
    say!("lrpc {}", measure(|| _ = plain_call(Number::Server, 0, 0)));
    say!("optimised lrpc {}", measure(|| _ = call(Number::Server, 0, 0)));
    say!("upcall {}", median(|| call(Number::Upcall, 0, 0) as u64));
    // SAFETY: the kernel does nothing then.
    say!("exception {}", measure(|| unsafe { asm!("int 0x2d") }));
    // The first round trips are to the other process that yields, the later ones within this process.
    say!("process switch {}", measure(calls::give_way) / 2);
    calls::spawn(give_way);
    calls::give_way();
    say!("thread switch {}", measure(calls::give_way) / 2);
    calls::on_signal(told);
    // SAFETY: the handler goes on behind it.
    let signal = median(|| unsafe {
        asm!("int3");
        TOLD - call(Number::Told, 0, 0) as u64
    });
    say!("signal {signal}");
    // SAFETY: likewise.
    say!("exception, signal and back {}", measure(|| unsafe { asm!("int3") }));
}
