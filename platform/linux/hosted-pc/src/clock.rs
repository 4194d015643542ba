//! Linux's clocks.
//!
//! # Soundness
//!
//! System calls that are told where to write.

use std::mem::zeroed;
use std::ptr::{null, null_mut};

const SECOND: u64 = 1_000_000_000;

/// The machine's clock: it goes on while the guest runs, in this process or in a user's, or waits. So nobody's time is
/// over because others had the processor, or a debugger did.
#[derive(Default)]
pub struct Clock {
    /// What doesn't count as this process's own.
    besides: u64,
}

impl Clock {
    /// Nanoseconds.
    pub fn now(&self) -> u64 {
        spent(libc::CLOCK_PROCESS_CPUTIME_ID) + self.besides
    }

    /// So much has been spent by somebody else.
    pub fn pass(&mut self, nanoseconds: u64) {
        self.besides += nanoseconds;
    }

    /// Waits until then, or, if somebody listens, until something comes from standard input.
    pub fn sleep(&mut self, deadline: Option<u64>, listens: bool) {
        let left = deadline.map(|deadline| timespec(deadline.saturating_sub(self.now())));
        let time = left.as_ref().map_or(null(), |left| left as *const _);
        let mut input = libc::pollfd { fd: 0, events: libc::POLLIN, revents: 0 };
        let begun = spent(libc::CLOCK_MONOTONIC);
        // SAFETY: see the head of this file.
        unsafe { libc::ppoll(&raw mut input, listens.into(), time, null()) };
        self.pass(spent(libc::CLOCK_MONOTONIC) - begun);
    }

    /// As this process's own clock has it.
    fn own(&self, deadline: u64) -> u64 {
        deadline.saturating_sub(self.besides).max(1)
    }
}

/// The clock of a process.
pub fn of_process(id: libc::pid_t) -> libc::clockid_t {
    let mut clock = 0;
    // SAFETY: see the head of this file.
    unsafe { libc::clock_getcpuclockid(id, &raw mut clock) };
    clock
}

/// What a clock says, in nanoseconds.
pub fn spent(clock: libc::clockid_t) -> u64 {
    // SAFETY: see the head of this file.
    let time = unsafe {
        let mut time = zeroed::<libc::timespec>();
        libc::clock_gettime(clock, &raw mut time);
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
            let made = libc::timer_create(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut event, &raw mut timer);
            assert!(made == 0, "Linux has timers for a process");
            Alarm { timer, deadline: None }
        }
    }

    /// It has come: who wants it again says so.
    pub fn has_come(&mut self) {
        self.deadline = None;
    }

    /// It comes then, once, or not at all.
    pub fn set(&mut self, deadline: Option<u64>, clock: &Clock) {
        let deadline = deadline.map(|deadline| clock.own(deadline));
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
