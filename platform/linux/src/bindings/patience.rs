//! How long the home thread looks for news before it sleeps: to sleep and to be woken costs microseconds (tens of them
//! on virtual machines), much more than a message.
//!
//! That pays as long as who has the news runs on another processor meanwhile; if it waits for the very processor that
//! looks, it gets that by a yield. Beside programs that compute a yield gives those the processor, for milliseconds,
//! and who has the news may be waiting behind one of them: then looks are in vain, and the news come as soon as this
//! thread sleeps. Whoever has lost the processor for so long knows that there is such a program. It doesn't yield for a
//! while, and looks that were in vain before short sleeps are left out next time, more of them each time, until one
//! finds something.

use std::thread;
use std::time::{Duration, Instant};

/// How long to look at most: about what it costs two processes to sleep and to be woken, on machines (virtual ones)
/// where that costs most.
const LONGEST_LOOK: Duration = Duration::from_micros(100);
/// How long to look at first, and after a sleep that was short.
const FIRST_LOOK: Duration = Duration::from_micros(5);
/// A look as long as this would have found what comes to one who sleeps as shortly, if it could have come meanwhile.
const LONG_LOOK: Duration = Duration::from_micros(40);
/// A sleep as short as this would have been better spent looking: most of it went into waking us.
const SHORT_SLEEP: Duration = Duration::from_micros(200);
/// So often it looks at memory before it asks for the time.
const LOOKS_AT_MEMORY: u32 = 256;
/// So often it asks the kernel.
const LOOKS_AT_KERNEL: u32 = 8;
/// A round of looks takes microseconds: if it takes so long, another program had the processor.
const LONG_ROUND: Duration = Duration::from_micros(700);
/// For so long that program is expected to compute on: then it is found out again, for one of its time slices.
const BUSY: Duration = Duration::from_millis(30);
/// Most looks that are left out after one in vain: they are some milliseconds, about the time for which schedulers
/// leave threads where they are.
const MOST_LEFT_OUT: u32 = 127;

/// How long it is worth looking: longer after sleeps that were short, shorter after looking in vain.
pub(crate) struct Patience {
    look: Duration,
    /// How often it looks at a time.
    looks: u32,
    /// With one processor nobody can have news for us while we look.
    alone: bool,
    /// A program computes beside this one, until then at least.
    busy_until: Option<Instant>,
    /// The last look was as long as it gets, and in vain, beside such a program.
    was_vain: bool,
    /// How many looks are left out from now on,
    left_out: u32,
    /// and how many were after the last one that was in vain; half of them after each that wasn't.
    doubt: u32,
}

impl Patience {
    /// For looks that cost next to nothing, at memory that another thread writes.
    pub(crate) fn new() -> Patience {
        // The other side has the processors that we have.
        Patience::among(thread::available_parallelism().map_or(1, usize::from), LOOKS_AT_MEMORY)
    }

    /// For looks that are system calls.
    pub(crate) fn with_kernel() -> Patience {
        // Who writes to our sockets may have any of the machine's.
        let processors = thread::available_parallelism().map_or(1, usize::from);
        // SAFETY: a plain number.
        let machine = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
        Patience::among(processors.max(usize::try_from(machine).unwrap_or(1)), LOOKS_AT_KERNEL)
    }

    fn among(processors: usize, looks: u32) -> Patience {
        let alone = processors == 1;
        let look = if alone { Duration::ZERO } else { FIRST_LOOK };
        Patience { look, looks, alone, busy_until: None, was_vain: false, left_out: 0, doubt: 0 }
    }

    /// Whether it isn't worth looking even once, where a look costs as much as a sleep that ends at once.
    pub(crate) fn is_at_an_end(&self) -> bool {
        self.look.is_zero() || self.left_out > 0
    }

    /// Looks until there are news, or patience or `limit` have come to their end; whether there were.
    pub(crate) fn look(&mut self, limit: Option<Duration>, mut has_news: impl FnMut() -> bool) -> bool {
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

    /// News have ended a sleep that took so long.
    pub(crate) fn slept(&mut self, time: Duration) {
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

    /// Who has the news gets a processor only when this thread sleeps, each time as often; how many times it looked.
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

    /// Whether it looks until there are news that are there soon.
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
    fn who_has_the_news_is_left_the_processor_if_it_runs_only_then() {
        let mut patience = busy();
        let looked = looked_in_vain(&mut patience, 2000);
        assert!(looked < 40, "it looked before {looked} of 2000 sleeps");
    }

    #[test]
    fn where_no_program_computes_looks_are_never_left_out() {
        let mut patience = patience();
        let looked = looked_in_vain(&mut patience, 50);
        // Unless one does beside this test.
        assert!(looked == 50 || patience.busy_until.is_some(), "it looked before {looked} of 50 sleeps");
    }

    #[test]
    fn whose_looks_were_in_vain_looks_again_when_the_other_side_runs_meanwhile() {
        let mut patience = busy();
        looked_in_vain(&mut patience, 2000);
        let slept = (0..1000).take_while(|_| !finds(&mut patience)).count();
        assert!(slept <= MOST_LEFT_OUT as usize, "it slept {slept} times");
        assert!((0..1000).all(|_| finds(&mut patience)), "it looks each time from then on");
    }

    #[test]
    fn who_sleeps_for_long_looks_no_more() {
        let mut patience = patience();
        for _ in 0..100 {
            patience.look(None, || false);
            patience.slept(10 * SHORT_SLEEP);
        }
        assert!(patience.is_at_an_end());
    }

    #[test]
    fn with_one_processor_nobody_looks() {
        let mut patience = Patience::among(1, LOOKS_AT_MEMORY);
        assert_eq!(looked_in_vain(&mut patience, 100), 0);
    }
}
