//! The entry points for time and random numbers.

use core::sync::atomic::Ordering::Relaxed;

use crate::failure::ds_fail;
use crate::home::timers::MILLISECOND;
use crate::home::{own, shared, team};
use crate::layout::*;
use crate::queue::ready;

/// `TIME`: the program's time, in milliseconds or virtual units.
///
/// # Safety
/// `w` is the worker of this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_time(w: *mut Worker) -> i64 {
    // SAFETY: `w` is this thread's worker.
    let shared = unsafe { shared(w) };
    if shared.is_virtual {
        shared.virtual_time.load(Relaxed)
    } else {
        (shared.nanoseconds() / MILLISECOND) as i64
    }
}

/// `PASSIVATE`
///
/// # Safety
/// `p` runs on `w`, the home worker.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_passivate(w: *mut Worker, p: *mut Process, n: i64, _location: u32) -> Status {
    // SAFETY: the process runs, so it stands nowhere; at home the timers are this thread's.
    unsafe {
        if (*p).status == WOKEN {
            (*p).status = READY;
            return Status::Done;
        }
        if n <= 0 && !shared(w).is_virtual {
            ready(w, p);
            (*p).status = WOKEN;
            return Status::Leave;
        }
        (*p).status = SLEEPS;
        (*team(w)).timers.add(ds_deadline(w, n), p);
    }
    Status::Leave
}

/// When n units of time from now have passed.
///
/// # Safety
/// `w` is the worker of this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_deadline(w: *mut Worker, n: i64) -> i64 {
    // SAFETY: `w` is this thread's worker.
    let shared = unsafe { shared(w) };
    let now = if shared.is_virtual {
        shared.virtual_time.load(Relaxed)
    } else {
        // Not less than n, so from the next full millisecond.
        shared.nanoseconds().div_ceil(MILLISECOND) as i64
    };
    now.saturating_add(n.max(0))
}

/// When a wait of at most n units of time is over that begins now: at once, if n isn't positive.
///
/// # Safety
/// `w` is the worker of this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_limit(w: *mut Worker, n: i64) -> i64 {
    // SAFETY: `w` is this thread's worker.
    if n > 0 { unsafe { ds_deadline(w, n) } } else { i64::MIN }
}

/// Whether a deadline has come.
///
/// # Safety
/// `w` is the worker of this thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_is_past(w: *mut Worker, deadline: i64) -> u32 {
    // SAFETY: `w` is this thread's worker.
    u32::from(unsafe { ds_time(w) } >= deadline)
}

/// Has a process that is about to await a condition woken at its deadline; gives the alarm's number.
///
/// # Safety
/// `p` runs on `w`, the home worker; `ds_alarm_over` follows before it ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_alarm(w: *mut Worker, p: *mut Process, deadline: i64) -> i64 {
    // SAFETY: at home the timers are this thread's; the process lives until its alarm is dropped.
    unsafe {
        let number = shared(w).next_alarm();
        (*team(w)).timers.set_alarm(deadline, number, p);
        number
    }
}

/// An alarm is not needed any more; it may have gone off.
///
/// # Safety
/// `w` is the home worker.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_alarm_over(w: *mut Worker, deadline: i64, alarm: i64) {
    // SAFETY: at home the timers are this thread's.
    unsafe { (*team(w)).timers.drop_alarm(deadline, alarm) };
}

/// `RANDOM(lo, hi)`, both included. An empty range is an error.
///
/// # Safety
/// `p` runs on `w`, the worker of this thread. If the range is empty, it leaves after this call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ds_random(w: *mut Worker, p: *mut Process, lo: i64, hi: i64, location: u32) -> i64 {
    if lo > hi {
        // SAFETY: the process runs here, and leaves.
        unsafe { ds_fail(w, p, Fault::InvalidArgument as u32, location) };
        return 0;
    }
    // SplitMix64, then a multiplication in place of a division: the bias is below 2^-64 of the range.
    // SAFETY: a worker's own data are its thread's.
    let random = unsafe { &mut (*own(w)).random };
    *random = random.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut x = *random;
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^= x >> 31;
    let range = (hi as i128 - lo as i128 + 1) as u128;
    (lo as i128 + ((x as u128 * range) >> 64) as i128) as i64
}
