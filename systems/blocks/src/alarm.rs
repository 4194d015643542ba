//! A process can have itself told by a signal that some time has passed, whatever it does then: also when it has a
//! program run that takes long.

use core::cell::Cell;

use kortex_binding::{Activation, signal};
use kortex_hal::exception::{Context, Trap};
use kortex_thread::Thread;
use microkernel::Process;
use microkernel::methods::of;

use crate::host::{Host, part};

/// Ticks of its own until it is told; 0: it won't be.
pub struct Alarm(Cell<u64>);

impl Alarm {
    pub const fn new() -> Alarm {
        Alarm(Cell::new(0))
    }
}

/// Sets it, or with 0 not any more: how many ticks were left.
pub unsafe extern "C" fn set<K: Host<Alarm>>(this: *const (), ticks: u64, _: u64, _: u64, _: u64) -> i64 {
    // SAFETY: bound so.
    part::<Alarm, K>(unsafe { of::<K>(this) }).0.replace(ticks) as i64
}

/// A tick: the process whose thread was interrupted is told if its time has come, or when its handler has ended.
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
