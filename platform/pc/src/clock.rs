//! Time: the clock, and the processor's one alarm. The runtime's ticker and the waits of threads share it: each has its
//! own [`Alarm`].
//!
//! # Soundness
//!
//! There is one processor. State that the alarm's handler uses is used elsewhere only with interrupts off.

use core::ptr::null;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use drystone_runtime::platform::{TICK_SLEEP, TICK_STOP, Tick};
use kortex_hal::Shared;
use kortex_hal::exception::{Context, Processor, Trap};
use kortex_hal::interrupt::{Apics, Controller};
use kortex_hal::mmu::{Mmu, Paging};
use kortex_hal::time::{self, ALARM, LocalTimer, Rates, Timer, convert};
use kortex_hal::x86_64::instructions::interrupts::without_interrupts;
use spin::Once;

pub(crate) const SECOND: u64 = 1_000_000_000;
/// An alarm that isn't set.
pub(crate) const NEVER: u64 = u64::MAX;
/// The longest time for which the processor's alarm is set: it counts no further.
const LONGEST: u64 = SECOND;

static START: Once<(u64, Rates)> = Once::new();

/// The alarms that share the processor's.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Alarm {
    /// The ticker's next tick.
    Tick,
    /// The home is to be woken.
    Home,
    /// The first of the resting domains is to be woken.
    Users,
    /// The running thread's time slice is over.
    Slice,
}

const ALARMS: usize = 4;

/// Called in a handler when the alarm's time has come, with the interrupted context.
type Handler = fn(&mut Context);

static TIMES: [AtomicU64; ALARMS] = [const { AtomicU64::new(NEVER) }; ALARMS];
static HANDLERS: Shared<[Handler; ALARMS]> = Shared::new([tick, |_| {}, |_| {}, |_| {}]);
/// The time that the processor's alarm is set for.
static SET: AtomicU64 = AtomicU64::new(NEVER);

/// The ticks so far.
static TICKS: AtomicU64 = AtomicU64::new(0);
/// Ticks between two flushes of the TLB. A flush costs nothing, and only then does QEMU consider enlarging its own: a
/// program of some megabytes takes a quarter less time there.
const TICKS_TO_FORGET: u64 = 32;

static TICKER: Shared<Option<Tick>> = Shared::new(None);

/// Starts the clock; `None`: the machine has no timer to measure it against.
///
/// # Safety
/// Called once, with interrupts off.
pub(crate) unsafe fn begin() -> Option<()> {
    // SAFETY: the caller promises that this is called once, with interrupts off. The handler `alarm` uses no argument.
    unsafe {
        let rates = LocalTimer.measure()?;
        START.call_once(|| (time::counter(), rates));
        Processor.register(ALARM, alarm, null());
    }
    Some(())
}

/// The cycle counter when the clock was started, and its rate a second.
pub(crate) fn base() -> (u64, u64) {
    let (start, rates) = *START.get().expect("the clock is started first");
    (start, rates.counter)
}

/// Nanoseconds since the clock was started.
pub(crate) fn now() -> u64 {
    let (start, rates) = *START.get().expect("the clock is started first");
    convert(time::counter() - start, SECOND, rates.counter)
}

/// Sets the ticker, in place of an earlier one.
pub(crate) fn start_ticker(tick: Tick) {
    // SAFETY: see the head of this file.
    let old = without_interrupts(|| unsafe {
        TIMES[Alarm::Tick as usize].store(now(), Relaxed);
        set();
        (*TICKER.get()).replace(tick)
    });
    drop(old);
}

/// Ends the ticker's wait.
pub(crate) fn wake_ticker() {
    without_interrupts(|| ring_by(Alarm::Tick, now()));
}

/// Sets when the home is woken; `None`: something else wakes it.
pub(crate) fn wake_at(time: Option<u64>) {
    without_interrupts(|| {
        TIMES[Alarm::Home as usize].store(time.unwrap_or(NEVER), Relaxed);
        set();
    });
}

/// Has an alarm ring at that time at the latest. Interrupts are off.
pub(crate) fn ring_by(alarm: Alarm, time: u64) {
    if TIMES[alarm as usize].fetch_min(time, Relaxed) > time {
        set();
    }
}

/// Sets an alarm's handler. Interrupts are off.
pub(crate) fn on(alarm: Alarm, handler: Handler) {
    // SAFETY: see the head of this file.
    unsafe { (*HANDLERS.get())[alarm as usize] = handler };
}

/// Sets the processor's alarm for the earliest of the alarms. Interrupts are off.
fn set() {
    let next = TIMES.iter().map(|time| time.load(Relaxed)).min().unwrap_or(NEVER);
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
    // SAFETY: see the head of this file.
    for (time, handler) in TIMES.iter().zip(unsafe { *HANDLERS.get() }) {
        if time.load(Relaxed) <= now() {
            time.store(NEVER, Relaxed);
            handler(context);
        }
    }
    set();
}

fn tick(_: &mut Context) {
    if TICKS.fetch_add(1, Relaxed).is_multiple_of(TICKS_TO_FORGET) {
        Paging.forget();
    }
    // SAFETY: see the head of this file.
    let ticker = unsafe { &*TICKER.get() };
    match ticker.as_ref().map_or(TICK_STOP, |tick| tick()) {
        TICK_STOP | TICK_SLEEP => {}
        nanoseconds => ring_by(Alarm::Tick, now() + nanoseconds),
    }
}
