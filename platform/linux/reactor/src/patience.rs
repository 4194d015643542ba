//! Adaptive polling: how long the home thread polls for news before it sleeps. To sleep and to be woken costs
//! microseconds (tens of them on virtual machines), much more than a message.
//!
//! Polling pays as long as the sender of the news runs on another processor. If the sender needs this processor, a
//! yield gives it that. But beside programs that compute, a yield may give the processor to one of them, for
//! milliseconds, and the sender may wait behind it: then polling is in vain, and the news come as soon as this thread
//! sleeps. A poll that lost the processor for so long shows that there is such a program. After that the thread doesn't
//! yield for a while, and leaves out polls: the more of them were in vain before short sleeps, the more, until one
//! finds something.

use std::thread;
use std::time::{Duration, Instant};

/// The longest poll: about what it costs two processes to sleep and to be woken where that costs most (on virtual
/// machines).
const LONGEST_LOOK: Duration = Duration::from_micros(100);
/// The first poll, and the shortest after a short sleep.
const FIRST_LOOK: Duration = Duration::from_micros(5);
/// A poll as long as this would have found news that come within a short sleep, if the sender could run meanwhile.
const LONG_LOOK: Duration = Duration::from_micros(40);
/// A sleep as short as this would have been better spent polling: most of it was the wake-up.
const SHORT_SLEEP: Duration = Duration::from_micros(200);
/// Polls of memory between two readings of the clock.
const LOOKS_AT_MEMORY: u32 = 256;
/// Polls of the kernel between two readings of the clock.
const LOOKS_AT_KERNEL: u32 = 8;
/// A round of polls takes microseconds: if it takes so long, another program had the processor.
const LONG_ROUND: Duration = Duration::from_micros(700);
/// How long that program is expected to go on computing. To find out again costs one of its time slices.
const BUSY: Duration = Duration::from_millis(30);
/// Most polls that are left out: some milliseconds of them, about the time for which schedulers leave threads on their
/// processors.
const MOST_LEFT_OUT: u32 = 127;

/// How long to poll: longer after short sleeps, shorter after polls in vain.
pub struct Patience {
    look: Duration,
    /// Polls between two readings of the clock.
    looks: u32,
    /// There is one processor, so nothing can come while this thread polls.
    alone: bool,
    /// A program computes beside this one, until then at least.
    busy_until: Option<Instant>,
    /// The last poll was long, and in vain, beside such a program.
    was_vain: bool,
    /// How many polls are left out from now on,
    left_out: u32,
    /// and how many were after the last one in vain; halved by each that finds something.
    doubt: u32,
}

impl Patience {
    /// For polls of memory that another thread writes, which cost next to nothing.
    pub fn new() -> Patience {
        // The other side may use the same processors.
        Patience::among(thread::available_parallelism().map_or(1, usize::from), LOOKS_AT_MEMORY)
    }

    /// For polls that are system calls.
    pub fn with_kernel() -> Patience {
        // The sender may run on any processor of the machine.
        let processors = thread::available_parallelism().map_or(1, usize::from);
        // SAFETY: `sysconf` takes a number and reads no memory of the program.
        let machine = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
        Patience::among(processors.max(usize::try_from(machine).unwrap_or(1)), LOOKS_AT_KERNEL)
    }

    fn among(processors: usize, looks: u32) -> Patience {
        let alone = processors == 1;
        let look = if alone { Duration::ZERO } else { FIRST_LOOK };
        Patience { look, looks, alone, busy_until: None, was_vain: false, left_out: 0, doubt: 0 }
    }

    /// Whether polling isn't worth it at all, where one poll costs as much as a sleep that ends at once.
    pub fn is_at_an_end(&self) -> bool {
        self.look.is_zero() || self.left_out > 0
    }

    /// Polls until there are news, or it isn't worth it any more, or `limit` has passed; whether there were news.
    pub fn look(&mut self, limit: Option<Duration>, mut has_news: impl FnMut() -> bool) -> bool {
        let most = limit.map_or(self.look, |limit| limit.min(self.look));
        self.was_vain = false;
        if most.is_zero() || self.left_out > 0 {
            return has_news();
        }
        let start = Instant::now();
        let mut is_busy = self.busy_until.is_some_and(|until| start < until);
        let mut before = Duration::ZERO;
        loop {
            for _ in 0..self.looks {
                if has_news() {
                    self.doubt /= 2;
                    return true;
                }
                std::hint::spin_loop();
            }
            if !is_busy {
                thread::yield_now();
            }
            let now = start.elapsed();
            if now - before > LONG_ROUND {
                is_busy = true;
                self.busy_until = Some(start + now + BUSY);
            }
            before = now;
            if now >= most {
                self.was_vain = is_busy && self.look >= LONG_LOOK;
                self.look = if self.look < FIRST_LOOK { Duration::ZERO } else { self.look * 3 / 4 };
                return false;
            }
        }
    }

    /// News have ended a sleep that was so long.
    pub fn slept(&mut self, time: Duration) {
        self.left_out = self.left_out.saturating_sub(1);
        if self.alone || time >= SHORT_SLEEP {
            return;
        }
        if self.was_vain {
            self.doubt = (2 * self.doubt + 1).min(MOST_LEFT_OUT);
            self.left_out = self.doubt;
        }
        self.look = (self.look * 2).clamp(FIRST_LOOK, LONGEST_LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_micros(10);

    /// As on a machine with several processors, whatever this one has.
    fn patience() -> Patience {
        Patience::among(2, LOOKS_AT_MEMORY)
    }

    /// Another program has had the processor.
    fn busy() -> Patience {
        let mut patience = patience();
        patience.slept(SHORT);
        patience.look(None, || {
            thread::sleep(2 * LONG_ROUND);
            false
        });
        patience.slept(SHORT);
        patience
    }

    /// The sender gets a processor only when this thread sleeps, so many times; how many times it polled.
    fn looked_in_vain(patience: &mut Patience, times: usize) -> usize {
        let mut looked = 0;
        for _ in 0..times {
            let mut looks = 0;
            let found = patience.look(None, || {
                looks += 1;
                false
            });
            assert!(!found);
            patience.slept(SHORT);
            looked += usize::from(looks > 1);
        }
        looked
    }

    /// Whether it polls long enough for news that come soon.
    fn finds(patience: &mut Patience) -> bool {
        let mut looks = 0;
        let found = patience.look(None, || {
            looks += 1;
            looks > 3
        });
        if !found {
            patience.slept(SHORT);
        }
        found
    }

    #[test]
    fn a_sender_is_left_the_processor_if_it_runs_only_then() {
        let mut patience = busy();
        let looked = looked_in_vain(&mut patience, 2000);
        assert!(looked < 40, "it looked before {looked} of 2000 sleeps");
    }

    #[test]
    fn where_no_program_computes_polls_are_never_left_out() {
        let mut patience = patience();
        let looked = looked_in_vain(&mut patience, 50);
        // Unless one does beside this test.
        assert!(looked == 50 || patience.busy_until.is_some(), "it looked before {looked} of 50 sleeps");
    }

    #[test]
    fn after_polls_in_vain_it_polls_again_when_the_other_side_runs_meanwhile() {
        let mut patience = busy();
        looked_in_vain(&mut patience, 2000);
        let slept = (0..1000).take_while(|_| !finds(&mut patience)).count();
        assert!(slept <= MOST_LEFT_OUT as usize, "it slept {slept} times");
        assert!((0..1000).all(|_| finds(&mut patience)), "it looks each time from then on");
    }

    #[test]
    fn after_long_sleeps_it_polls_no_more() {
        let mut patience = patience();
        for _ in 0..100 {
            patience.look(None, || false);
            patience.slept(10 * SHORT_SLEEP);
        }
        assert!(patience.is_at_an_end());
    }

    #[test]
    fn with_one_processor_it_never_polls() {
        let mut patience = Patience::among(1, LOOKS_AT_MEMORY);
        assert_eq!(looked_in_vain(&mut patience, 100), 0);
    }
}
