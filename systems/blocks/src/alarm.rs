//! An alarm: after some ticks a process gets a signal, even while the kernel runs a long program for it.

use core::cell::Cell;

use kortex_binding::{Activation, signal};
use kortex_hal::exception::{Context, Trap};
use kortex_thread::Thread;
use microkernel::Process;
use microkernel::methods::of;

use crate::host::{Host, part};

/// Ticks of the process's own time until the signal; 0: no alarm is set.
pub struct Alarm(Cell<u64>);

impl Alarm {
    pub const fn new() -> Alarm {
        Alarm(Cell::new(0))
    }
}

/// Sets the alarm, or clears it with 0; returns how many ticks were left.
///
/// # Safety
/// Called as a [`Method`](kortex_binding::Method), with the `this` that it was bound with.
pub unsafe extern "C" fn set<K: Host<Alarm>>(this: *const (), ticks: u64, _: u64, _: u64, _: u64) -> i64 {
    // SAFETY: `this` is the process that the call is bound with.
    part::<Alarm, K>(unsafe { of::<K>(this) }).0.replace(ticks) as i64
}

/// A tick of the clock: signals the process of the interrupted thread if its alarm is due, or else once its signal
/// handler has ended.
///
/// # Safety
/// In a handler, of a user's code; the context is that of the thread, which runs.
pub unsafe fn ring<K: Host<Alarm>>(
    process: &Process<K>,
    trap: &(impl Trap + ?Sized),
    thread: &Thread<Activation>,
    context: &mut Context,
) {
    let left = &part::<Alarm, K>(process).0;
    match left.get() {
        0 => {}
        // SAFETY: as the caller promises.
        1 if !unsafe { signal::tell(trap, thread, context, 0) } => {}
        ticks => left.set(ticks - 1),
    }
}
