//! Another loop of events on the home's thread. While there is one, it is that which sleeps in the kernel, and the
//! reactor's own epoll is among what it watches: so neither needs a thread of its own, and what comes by either wakes
//! both.

use std::os::fd::{AsRawFd, RawFd};
use std::rc::Weak;
use std::time::Duration;

use super::{Direction, Reactor};

/// See the head of this file.
pub(crate) trait Sleeper {
    /// Goes on until it has news, or the reactor's epoll has some that came since the last look at it, or `limit` has
    /// passed; if that is no time at all, as far as it can without waiting. Gives the sources for which it has news.
    fn go_on(&self, limit: Option<Duration>) -> Vec<usize>;
}

impl Reactor {
    /// This one sleeps in the kernel from now on, for as long as others keep it.
    pub(crate) fn entrust(&self, sleeper: Weak<dyn Sleeper>) {
        *self.sleeper.borrow_mut() = Some(sleeper);
    }

    /// Whether there is another loop. To look for news with that again and again costs more than it gains: who has some
    /// for it needs the processor for that.
    pub(super) fn has_sleeper(&self) -> bool {
        self.sleeper.borrow().as_ref().is_some_and(|sleeper| sleeper.strong_count() > 0)
    }

    /// Lets the other loop go on, if there is one; how long the reactor may still sleep itself, and whether there were
    /// news for a handler.
    pub(super) fn share(&self, limit: Option<Duration>) -> (Option<Duration>, bool) {
        let sleeper = self.sleeper.borrow().as_ref().and_then(Weak::upgrade);
        let Some(sleeper) = sleeper else { return (limit, false) };
        // What the last look has left in the epoll wakes nobody.
        let limit = if self.is_crowded.take() { Some(Duration::ZERO) } else { limit };
        let mut notified = false;
        for source in sleeper.go_on(limit) {
            self.state.borrow_mut().wake(source, Direction::Read);
            notified |= self.run_handler(source);
        }
        (Some(Duration::ZERO), notified)
    }
}

impl AsRawFd for Reactor {
    /// Its epoll, which can be read when there are events.
    fn as_raw_fd(&self) -> RawFd {
        self.registry.as_raw_fd()
    }
}
