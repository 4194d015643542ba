//! How long the home thread looks for news before it sleeps: to sleep and to be woken costs microseconds (tens of them on
//! virtual machines), much more than a message.

use std::thread;
use std::time::{Duration, Instant};

/// How long to look at most: about what it costs two processes to sleep and to be woken, on machines (virtual ones)
/// where that costs most.
const LONGEST_LOOK: Duration = Duration::from_micros(100);
/// How long to look at first, and after a sleep that was short.
const FIRST_LOOK: Duration = Duration::from_micros(5);
/// A sleep as short as this would have been better spent looking: most of it went into waking us.
const SHORT_SLEEP: Duration = Duration::from_micros(200);
/// So often it looks at memory before it lets others have the processor: the other side may be waiting for just that.
const LOOKS_AT_MEMORY: u32 = 256;
/// So often it asks the kernel.
const LOOKS_AT_KERNEL: u32 = 8;

/// How long it is worth looking: longer after sleeps that were short, shorter after looking in vain.
pub(crate) struct Patience {
    look: Duration,
    /// How often it looks at a time.
    looks: u32,
    /// With one processor nobody can have news for us while we look.
    alone: bool,
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
        Patience { look: if alone { Duration::ZERO } else { FIRST_LOOK }, looks, alone }
    }

    /// Whether it isn't worth looking even once, where a look costs as much as a sleep that ends at once.
    pub(crate) fn is_at_an_end(&self) -> bool {
        self.look.is_zero()
    }

    /// Looks until there are news, or patience or `limit` have come to their end; whether there were.
    pub(crate) fn look(&mut self, limit: Option<Duration>, mut has_news: impl FnMut() -> bool) -> bool {
        let most = limit.map_or(self.look, |limit| limit.min(self.look));
        if most.is_zero() {
            return has_news();
        }
        let start = Instant::now();
        loop {
            for _ in 0..self.looks {
                if has_news() {
                    return true;
                }
                std::hint::spin_loop();
            }
            thread::yield_now();
            if start.elapsed() >= most {
                self.look = if self.look < FIRST_LOOK { Duration::ZERO } else { self.look * 3 / 4 };
                return false;
            }
        }
    }

    /// News have ended a sleep that took so long.
    pub(crate) fn slept(&mut self, time: Duration) {
        if !self.alone && time < SHORT_SLEEP {
            self.look = (self.look * 2).clamp(FIRST_LOOK, LONGEST_LOOK);
        }
    }
}
