//! Time: the processor's counter, and the ticker, which the kernel calls.
//!
//! # Soundness
//!
//! A tick interrupts the domain's only thread, and ends before that thread is resumed. So the ticker that it reads
//! isn't dropped meanwhile.

use alloc::boxed::Box;
use core::ptr::null_mut;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use core::sync::atomic::{AtomicPtr, AtomicU64};

use drystone_calls::NEVER;
use drystone_runtime::platform::{TICK_SLEEP, TICK_STOP, Tick};
use kortex_hal::time;

const SECOND: u64 = 1_000_000_000;

static START: AtomicU64 = AtomicU64::new(0);
static RATE: AtomicU64 = AtomicU64::new(1);

static TICKER: AtomicPtr<Tick> = AtomicPtr::new(null_mut());
/// When the ticker is due next.
static NEXT_TICK: AtomicU64 = AtomicU64::new(NEVER);

/// Sets the counter's value at the clock's start, and the counter's rate a second.
pub(crate) fn begin(counter: u64, rate: u64) {
    START.store(counter, Relaxed);
    RATE.store(rate.max(1), Relaxed);
}

/// Nanoseconds since the clock was started.
pub(crate) fn now() -> u64 {
    let counted = time::counter().wrapping_sub(START.load(Relaxed));
    time::convert(counted, SECOND, RATE.load(Relaxed))
}

/// Sets the ticker, in place of an earlier one.
pub(crate) fn start_ticker(tick: Tick) {
    let old = TICKER.swap(Box::into_raw(Box::new(tick)), AcqRel);
    if !old.is_null() {
        // SAFETY: the box came from `Box::into_raw`, and isn't used any more.
        drop(unsafe { Box::from_raw(old) });
    }
    wake_ticker();
}

/// Ends the ticker's wait.
pub(crate) fn wake_ticker() {
    NEXT_TICK.store(0, Relaxed);
}

/// The tick handler, which the kernel calls from time to time while the domain runs.
pub(crate) extern "C" fn tick() {
    if NEXT_TICK.load(Relaxed) > now() {
        return;
    }
    // SAFETY: see the head of this file.
    let Some(tick) = (unsafe { TICKER.load(Acquire).as_ref() }) else { return };
    NEXT_TICK.store(
        match tick() {
            TICK_STOP | TICK_SLEEP => NEVER,
            nanoseconds => now().saturating_add(nanoseconds),
        },
        Relaxed,
    );
}
