//! When unused memory is given back: after it has been too much for a while, and in at most a small part of the time.

use super::timers::MILLISECOND;
use crate::heap::Heap;
use crate::threads::Threads;

/// A program that frees much may soon want it again.
const PATIENCE: u64 = 20 * MILLISECOND;
/// Giving back takes at most this part of the time, in the long run.
const PART: u64 = 8;
/// The same for a sweep that has found only some of it, because other workers had the rest.
const DISTURBED_PART: u64 = 32;
/// How long a sweep may go on, in nanoseconds, when no process is ready.
pub const WHEN_IDLE: u64 = MILLISECOND;
/// The same when processes are ready.
pub const WHEN_BUSY: u64 = MILLISECOND / 5;

/// What is known about unused memory.
pub struct Surplus {
    /// When it was first seen to be too much, by the platform's clock.
    since: Option<u64>,
    /// Unused bytes that could not be given back.
    left: usize,
    /// Nothing is given back before that time.
    rest: u64,
    /// Nanoseconds that the sweep has taken which is going on.
    taken: u64,
    /// Processes that had gone away when it was first too much.
    departures: usize,
    /// Bytes in use when the last sweep began: it has not seen all that was freed later.
    live: usize,
    /// Something has been given back since the platform was last asked to do so.
    is_untrimmed: bool,
}

/// What a look at the memory says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// There is nothing to do.
    None,
    /// Workers that rest shall keep nothing; look again after so many nanoseconds.
    Begin(u64),
    /// Look again after so many nanoseconds; 0: there is something to do now.
    Later(u64),
}

impl Surplus {
    /// Nothing is known.
    pub const fn new() -> Surplus {
        Surplus { since: None, left: 0, rest: 0, taken: 0, departures: 0, live: 0, is_untrimmed: false }
    }

    /// Looks at the memory, and gives some back if it is time; that takes `most` nanoseconds.
    pub fn look(&mut self, heap: &mut Heap, threads: &dyn Threads, most: u64) -> Advice {
        self.trim(threads, most);
        if heap.is_swept() {
            return self.sweep(heap, threads, most);
        }
        self.left = self.left.min(heap.unused());
        if !heap.has_surplus(self.left, self.live) {
            if self.since.take().is_some() {
                heap.memory().end_gathering();
            }
            return Advice::None;
        }
        let now = threads.clock();
        let Some(since) = self.since else {
            self.since = Some(now);
            self.departures = heap.memory().begin_gathering();
            return Advice::Begin(PATIENCE.max(self.rest.saturating_sub(now)));
        };
        match (since + PATIENCE).max(self.rest).checked_sub(now) {
            None | Some(0) => self.sweep(heap, threads, most),
            Some(early) => Advice::Later(early),
        }
    }

    fn sweep(&mut self, heap: &mut Heap, threads: &dyn Threads, most: u64) -> Advice {
        let begin = threads.clock();
        if !heap.is_swept() {
            self.live = heap.live();
        }
        let has_ended = heap.sweep(&mut || threads.clock() - begin >= most);
        let end = threads.clock();
        // Not the time in which the processor ran other programs.
        self.taken += (end - begin).min(most);
        if !has_ended {
            return Advice::Later(0);
        }
        let is_quiet = heap.memory().is_quiet_since(self.departures);
        heap.memory().end_gathering();
        let (left, part) = if is_quiet { (heap.unused(), PART) } else { (0, DISTURBED_PART) };
        *self = Surplus {
            left,
            live: self.live,
            rest: end + part * self.taken,
            is_untrimmed: true,
            ..Surplus::new()
        };
        self.trim(threads, most);
        if heap.has_surplus(left, self.live) { Advice::Later(self.rest - end) } else { Advice::None }
    }

    /// The platform can't do that in portions, so it does when no process is ready.
    fn trim(&mut self, threads: &dyn Threads, most: u64) {
        if most == WHEN_IDLE && core::mem::take(&mut self.is_untrimmed) {
            threads.trim();
        }
    }
}

#[cfg(test)]
#[path = "surplus_tests.rs"]
mod tests;
