//! Linux's clocks.
//!
//! # Soundness
//!
//! All system calls get valid addresses to write to.

use std::mem::zeroed;
use std::ptr::{null, null_mut};

const SECOND: u64 = 1_000_000_000;

/// The machine's clock. It advances while the guest runs, in this process or in a user's, or waits. So no time slice is
/// over because other programs, or a debugger, had the processor.
#[derive(Default)]
pub struct Clock {
    /// Nanoseconds besides this process's own.
    besides: u64,
}

impl Clock {
    /// The clock's time in nanoseconds.
    pub fn now(&self) -> u64 {
        spent(libc::CLOCK_PROCESS_CPUTIME_ID) + self.besides
    }

    /// Adds time that was spent elsewhere.
    pub fn pass(&mut self, nanoseconds: u64) {
        self.besides += nanoseconds;
    }

    /// Waits until then, or, if `listens`, until there is standard input.
    pub fn sleep(&mut self, deadline: Option<u64>, listens: bool) {
        let left = deadline.map(|deadline| timespec(deadline.saturating_sub(self.now())));
        let time = left.as_ref().map_or(null(), |left| left as *const _);
        let mut input = libc::pollfd { fd: 0, events: libc::POLLIN, revents: 0 };
        let begun = spent(libc::CLOCK_MONOTONIC);
        // SAFETY: see the head of this file.
        unsafe { libc::ppoll(&raw mut input, listens.into(), time, null()) };
        self.pass(spent(libc::CLOCK_MONOTONIC) - begun);
    }

    /// That time, by this process's own clock.
    fn own(&self, deadline: u64) -> u64 {
        deadline.saturating_sub(self.besides).max(1)
    }
}

/// The clock of a process.
pub fn of_process(id: libc::pid_t) -> libc::clockid_t {
    let mut clock = 0;
    // SAFETY: the C library only writes the process's CPU clock into `clock`.
    unsafe { libc::clock_getcpuclockid(id, &raw mut clock) };
    clock
}

/// A clock's time, in nanoseconds.
pub fn spent(clock: libc::clockid_t) -> u64 {
    // SAFETY: see the head of this file.
    let time = unsafe {
        let mut time = zeroed::<libc::timespec>();
        libc::clock_gettime(clock, &raw mut time);
        time
    };
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}

/// Date and time in UTC.
pub fn moment() -> libc::tm {
    // SAFETY: see the head of this file.
    unsafe {
        let seconds = libc::time(null_mut());
        let mut moment = zeroed();
        libc::gmtime_r(&raw const seconds, &raw mut moment);
        moment
    }
}

/// Converts nanoseconds.
pub fn timespec(nanoseconds: u64) -> libc::timespec {
    libc::timespec { tv_sec: (nanoseconds / SECOND) as i64, tv_nsec: (nanoseconds % SECOND) as i64 }
}

/// A timer that raises SIGALRM in this process.
pub struct Alarm {
    timer: libc::timer_t,
    deadline: Option<u64>,
}

impl Alarm {
    /// A timer that is off.
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

    /// The timer has expired, and has to be set again.
    pub fn has_come(&mut self) {
        self.deadline = None;
    }

    /// Sets when the timer expires, once; `None`: never.
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
