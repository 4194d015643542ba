//! Linux's clocks.
//!
//! # Soundness
//!
//! System calls that are told where to write.

use std::mem::zeroed;
use std::ptr::null_mut;

const SECOND: u64 = 1_000_000_000;

/// Nanoseconds of the machine's clock.
pub fn now() -> u64 {
    // SAFETY: see the head of this file.
    let time = unsafe {
        let mut time = zeroed::<libc::timespec>();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time);
        time
    };
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}

/// What day and time it is, in UTC.
pub fn moment() -> libc::tm {
    // SAFETY: see the head of this file.
    unsafe {
        let seconds = libc::time(null_mut());
        let mut moment = zeroed();
        libc::gmtime_r(&raw const seconds, &raw mut moment);
        moment
    }
}

/// As Linux has it.
pub fn timespec(nanoseconds: u64) -> libc::timespec {
    libc::timespec { tv_sec: (nanoseconds / SECOND) as i64, tv_nsec: (nanoseconds % SECOND) as i64 }
}

/// Waits until then.
pub fn sleep_until(deadline: u64) {
    let until = timespec(deadline);
    while now() < deadline {
        // SAFETY: see the head of this file.
        unsafe {
            libc::clock_nanosleep(libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME, &raw const until, null_mut())
        };
    }
}

/// A timer that raises SIGALRM in this process.
pub struct Alarm {
    timer: libc::timer_t,
    deadline: Option<u64>,
}

impl Alarm {
    /// One that is off.
    pub fn new() -> Alarm {
        // SAFETY: see the head of this file.
        unsafe {
            let mut event = zeroed::<libc::sigevent>();
            event.sigev_notify = libc::SIGEV_SIGNAL;
            event.sigev_signo = libc::SIGALRM;
            let mut timer = null_mut();
            let made = libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer);
            assert!(made == 0, "Linux has timers for a process");
            Alarm { timer, deadline: None }
        }
    }

    /// It has come: who wants it again says so.
    pub fn has_come(&mut self) {
        self.deadline = None;
    }

    /// It comes then, once, or not at all.
    pub fn set(&mut self, deadline: Option<u64>) {
        if self.deadline == deadline {
            return;
        }
        self.deadline = deadline;
        // SAFETY: see the head of this file.
        unsafe {
            let mut when = zeroed::<libc::itimerspec>();
            when.it_value = timespec(deadline.unwrap_or(0));
            libc::timer_settime(self.timer, libc::TIMER_ABSTIME, &raw const when, null_mut());
        }
    }
}
