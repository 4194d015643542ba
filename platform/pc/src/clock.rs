//! Time: the clock, and the one alarm, which serves the runtime's ticker and whoever waits for a time.
//!
//! # Soundness
//!
//! There is one processor. What the alarm's handler uses, others use with interrupts off only.

use core::ptr::null;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU64};

use drystone_runtime::platform::{TICK_SLEEP, TICK_STOP, Tick};
use kortex_hal::Shared;
use kortex_hal::exception::{Context, Processor, Trap};
use kortex_hal::interrupt::{Apics, Controller};
use kortex_hal::mmu::{Mmu, Paging};
use kortex_hal::time::{self, ALARM, LocalTimer, Rates, Timer};
use kortex_hal::x86_64::instructions::interrupts::without_interrupts;
use spin::Once;

use crate::domains::process;
use crate::threads;

const SECOND: u64 = 1_000_000_000;
/// Nobody waits for it.
pub(crate) const NEVER: u64 = u64::MAX;
/// The alarm is set anew so often at least: it counts no further.
const LONGEST: u64 = SECOND;

static START: Once<(u64, Rates)> = Once::new();
/// When the ticker goes on.
static NEXT_TICK: AtomicU64 = AtomicU64::new(NEVER);
/// When somebody wants to be woken.
static DEADLINE: AtomicU64 = AtomicU64::new(NEVER);
/// When the first of the domains that rest wants to be woken.
static USERS: AtomicU64 = AtomicU64::new(NEVER);
/// When the running thread's time is over, if there are threads.
static SLICE_END: AtomicU64 = AtomicU64::new(NEVER);
/// Nanoseconds that a thread runs before others have their turn.
const SLICE: u64 = SECOND / 1000;
/// For when the alarm is set, if it is.
static SET: AtomicU64 = AtomicU64::new(NEVER);
/// That has come.
static RUNG: AtomicBool = AtomicBool::new(false);

/// Of the ticker, so far.
static TICKS: AtomicU64 = AtomicU64::new(0);
/// So many ticks apart the processor forgets what it has looked up in page tables. It costs nothing, and QEMU looks only then whether it
/// should remember more: a program of some megabytes takes a quarter less time there.
const TICKS_TO_FORGET: u64 = 32;

static TICKER: Shared<Option<Tick>> = Shared::new(None);

/// Starts the clock; `None`: the machine has nothing by which it could.
///
/// # Safety
/// Called once, with interrupts off.
pub(crate) unsafe fn begin() -> Option<()> {
    // SAFETY: as the caller promises; the handler is fit for that.
    unsafe {
        let rates = LocalTimer.measure()?;
        START.call_once(|| (time::counter(), rates));
        Processor.register(ALARM, alarm, null());
    }
    Some(())
}

/// What the processor's counter said when the clock was started, and what it counts in a second.
pub(crate) fn base() -> (u64, u64) {
    let (start, rates) = *START.get().expect("the clock is started first");
    (start, rates.counter)
}

/// Nanoseconds since the clock was started.
pub(crate) fn now() -> u64 {
    let (start, rates) = *START.get().expect("the clock is started first");
    convert(time::counter() - start, SECOND, rates.counter)
}

/// A number of one unit in another.
fn convert(number: u64, to: u64, from: u64) -> u64 {
    (u128::from(number) * u128::from(to) / u128::from(from)) as u64
}

/// Ticks from now on; another ticker is forgotten.
pub(crate) fn start_ticker(tick: Tick) {
    // SAFETY: see the head of this file.
    let old = without_interrupts(|| unsafe {
        NEXT_TICK.store(now(), Relaxed);
        set();
        (*TICKER.get()).replace(tick)
    });
    drop(old);
}

/// Ends the ticker's wait.
pub(crate) fn wake_ticker() {
    without_interrupts(|| {
        NEXT_TICK.fetch_min(now(), Relaxed);
        set();
    });
}

/// The processor is interrupted at that time; `None`: when something else does it.
pub(crate) fn wake_at(time: Option<u64>) {
    without_interrupts(|| {
        RUNG.store(false, Relaxed);
        DEADLINE.store(time.unwrap_or(NEVER), Relaxed);
        set();
    });
}

/// A domain wants to be woken then. Interrupts are off.
pub(crate) fn wake_user_at(time: u64) {
    if USERS.fetch_min(time, Relaxed) > time {
        set();
    }
}

/// From now on threads have their turns, as long as one can run. Interrupts are off.
pub(crate) fn begin_slices() {
    if SLICE_END.load(Relaxed) == NEVER {
        SLICE_END.store(now() + SLICE, Relaxed);
        set();
    }
}

/// Whether the time has come for which the last [`wake_at`] was. Interrupts are off.
pub(crate) fn has_rung() -> bool {
    RUNG.load(Relaxed)
}

/// Sets the alarm for what comes first. Interrupts are off.
fn set() {
    let times = [&NEXT_TICK, &DEADLINE, &USERS, &SLICE_END].map(|time| time.load(Relaxed));
    let next = times.into_iter().min().unwrap_or(NEVER);
    if SET.swap(next, Relaxed) == next {
        return;
    }
    if next == NEVER {
        return LocalTimer.set_alarm(0);
    }
    let (_, rates) = *START.get().expect("the clock is started first");
    let wait = next.saturating_sub(now()).min(LONGEST);
    let beats = convert(wait, rates.alarm, SECOND);
    LocalTimer.set_alarm(u32::try_from(beats).unwrap_or(u32::MAX).max(1));
}

extern "C" fn alarm(context: &mut Context, _: *const ()) {
    Apics.end();
    SET.store(NEVER, Relaxed);
    if NEXT_TICK.load(Relaxed) <= now() {
        if TICKS.fetch_add(1, Relaxed).is_multiple_of(TICKS_TO_FORGET) {
            Paging.forget();
        }
        // SAFETY: see the head of this file.
        let tick = unsafe { &*TICKER.get() };
        let next = match tick.as_ref().map_or(TICK_STOP, |tick| tick()) {
            TICK_STOP | TICK_SLEEP => NEVER,
            nanoseconds => now() + nanoseconds,
        };
        NEXT_TICK.store(next, Relaxed);
    }
    if DEADLINE.load(Relaxed) <= now() {
        DEADLINE.store(NEVER, Relaxed);
        RUNG.store(true, Relaxed);
        threads::wake_home();
    }
    if USERS.load(Relaxed) <= now() {
        USERS.store(NEVER, Relaxed);
        process::wake(now());
    }
    if SLICE_END.load(Relaxed) <= now() {
        let end = if threads::is_idle() { NEVER } else { now() + SLICE };
        SLICE_END.store(end, Relaxed);
        process::slice_is_over(context);
    }
    set();
}
