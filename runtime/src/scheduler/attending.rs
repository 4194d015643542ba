//! What the scheduler does between processes: it answers the ticker and the platform, wakes sleepers, gives unused
//! memory back, and waits when no process is ready.
//!
//! # Why this is sound
//! See the scheduler module.
//!
//! # Safety of this module
//! *Between processes*: `w` is the home worker, whose scheduler has control, so that other processes may be woken, run
//! and end.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};

use crate::communication::watching;
use crate::home::surplus::{Advice, WHEN_BUSY, WHEN_IDLE};
use crate::home::timers::MILLISECOND;
use crate::home::{Shared, home, shared, team};
use crate::instance::monitor;
use crate::instance::natives::wake_parked;
use crate::layout::*;
use crate::near::guest;
use crate::output;
use crate::parallel;
use crate::platform::{TICK_SLEEP, TICK_STOP};
use crate::text;
use crate::worker::heap_of;

/// How long the home sleeps at most while other workers have processes.
const LOOK_NANOSECONDS: u64 = 100 * MILLISECOND;

/// Does what the ticker or the platform wants.
///
/// # Safety
/// *Between processes.*
pub unsafe fn attend(w: *mut Worker, attention: u32) {
    // SAFETY: *between processes*.
    unsafe {
        if attention & TICK != 0 {
            ticked(w);
        }
        if attention & LOOK != 0 {
            poll(w, Some(0));
        }
    }
}

/// # Safety
/// *Between processes.*
unsafe fn ticked(w: *mut Worker) {
    // SAFETY: *between processes*; the platform outlives the program.
    unsafe {
        (*team(w)).census.ticks += 1;
        parallel::ticked(w);
        let platform = (*home(w)).platform;
        if (*platform).pending() != 0 || (*platform).is_asked() {
            poll(w, Some(0));
            guest::look(w);
        }
        give_back(w, WHEN_BUSY);
        // A program that computes shows what it writes, if not at once.
        if (*team(w)).census.ticks.is_multiple_of(64) {
            output::flush(w);
        }
    }
}

/// Goes on with all whose time has come by the clock.
///
/// # Safety
/// *Between processes.*
pub unsafe fn wake_due(w: *mut Worker) {
    // SAFETY: *between processes*.
    unsafe {
        if !(*team(w)).timers.is_empty() && !shared(w).is_virtual {
            wake(w, (shared(w).nanoseconds() / MILLISECOND) as i64);
        }
    }
}

/// Goes on with all whose time has come.
///
/// # Safety
/// *Between processes.*
unsafe fn wake(w: *mut Worker, now: i64) {
    // SAFETY: *between processes*; a sleeping process is live.
    unsafe {
        let timers = &raw mut (*team(w)).timers;
        (*timers).wake(w, now);
        while let Some(p) = (*timers).take_alarm(now) {
            if !watching::overdue(w, p) {
                monitor::overdue(w, p);
            }
        }
    }
}

/// Lets the platform wake processes, for so many nanoseconds at most, and ask what it wants to know. What has been
/// written goes to it first: it may tell other programs of what happened afterwards.
///
/// # Safety
/// *Between processes.*
pub unsafe fn poll(w: *mut Worker, timeout: Option<u64>) {
    // SAFETY: *between processes*; the platform outlives the program, and wakes live processes only.
    unsafe {
        output::flush(w);
        let platform = (*home(w)).platform;
        (*platform).wait(timeout, &mut |p| wake_parked(w, p));
        if !(*home(w)).outgoing.is_empty() {
            output::send(w);
        }
        if (*platform).is_asked() && !(*home(w)).lending.lent.is_empty() {
            // Who asks wants to see it all.
            return parallel::recall(w);
        }
        while let Some(question) = (*platform).asked() {
            question(w);
        }
        parallel::release(w);
    }
}

/// Gives unused memory back, for `most` nanoseconds. Answers after how many there may be more to do.
///
/// # Safety
/// `w` is the home worker.
unsafe fn give_back(w: *mut Worker, most: u64) -> Option<u64> {
    // SAFETY: a worker's heap and the home's data belong to its thread.
    let (heap, surplus, shared) = unsafe { (&mut *heap_of(w), &mut (*home(w)).surplus, shared(w)) };
    let threads = shared.threads;
    if heap.has_spent() {
        let begin = threads.clock();
        if text::empty_spent(heap, &mut |_| threads.clock() - begin >= most) {
            return Some(0);
        }
    }
    if heap.has_late() {
        let begin = threads.clock();
        if heap.free_late(&mut |_| threads.clock() - begin >= most) {
            return Some(0);
        }
    }
    match surplus.look(heap, threads, most) {
        Advice::None => None,
        Advice::Begin(time) => {
            parallel::rouse(shared);
            Some(time)
        }
        Advice::Later(time) => Some(time),
    }
}

/// No process is ready: waits for whatever makes one so; `false`: nothing ever will.
///
/// # Safety
/// *Between processes.*
pub unsafe fn wait(w: *mut Worker) -> bool {
    // SAFETY: *between processes*; no reference to the home's data lasts over a call.
    unsafe {
        output::flush(w);
        if output::has_more(w) {
            poll(w, Some(0));
            return true;
        }
        let shared = shared(w);
        let pending = (*(*home(w)).platform).pending() != 0;
        let away = (*home(w)).parallel.are_away();
        let unused = give_back(w, WHEN_IDLE);
        if unused == Some(0) {
            poll(w, Some(0));
            return true;
        }
        let first = (*team(w)).timers.first();
        let timeout = match first {
            Some(time) if shared.is_virtual => {
                if pending {
                    poll(w, Some(0));
                }
                if (*w).ready_head.is_null() && !away {
                    shared.virtual_time.store(time, Relaxed);
                    wake(w, time);
                }
                if !away {
                    return true;
                }
                None
            }
            Some(time) => {
                Some((time as u64).saturating_mul(MILLISECOND).saturating_sub(shared.nanoseconds()))
            }
            None => None,
        };
        if !pending && !away && first.is_none() {
            return false;
        }
        // A process that is away may leave memory behind.
        let look = if away { Some(LOOK_NANOSECONDS) } else { None };
        let timeout = [timeout, unused, look].into_iter().flatten().min();
        shared.idle.store(true, SeqCst);
        // From now on `Shared::call_home` also notifies.
        if (*w).attention.load(SeqCst) == 0 {
            poll(w, timeout);
        }
        shared.idle.store(false, SeqCst);
        if shared.ticker_sleeps.swap(false, SeqCst) {
            shared.threads.wake_ticker();
        }
    }
    true
}

/// What the ticker calls: see [`Threads::start_ticker`](crate::platform::Threads::start_ticker).
pub fn tick(shared: &Shared) -> u64 {
    if shared.is_over() {
        return TICK_STOP;
    }
    if shared.idle.load(SeqCst) {
        shared.ticker_sleeps.store(true, SeqCst);
        if shared.idle.load(SeqCst) {
            return TICK_SLEEP;
        }
        shared.ticker_sleeps.store(false, SeqCst);
    }
    shared.demand_attention(0, TICK);
    parallel::tick(shared)
}
