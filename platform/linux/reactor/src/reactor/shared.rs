//! How the reactor and another event loop sleep as one: see [`Sleeper`].

use std::os::fd::{AsRawFd, RawFd};
use std::rc::Weak;
use std::time::Duration;

use super::{Direction, Reactor};
use crate::sleeper::Sleeper;

impl Reactor {
    /// This loop sleeps in the kernel from now on, until it is dropped.
    pub fn entrust(&self, sleeper: Weak<dyn Sleeper>) {
        *self.sleeper.borrow_mut() = Some(sleeper);
    }

    /// Whether there is another loop. Then polling costs more than it gains: the loop's peers need the processor, too.
    pub(crate) fn has_sleeper(&self) -> bool {
        self.sleeper.borrow().as_ref().is_some_and(|sleeper| sleeper.strong_count() > 0)
    }

    /// Runs the other loop, if there is one; how long the reactor may still sleep itself, and whether a handler ran.
    pub(crate) fn share(&self, limit: Option<Duration>) -> (Option<Duration>, bool) {
        let sleeper = self.sleeper.borrow().as_ref().and_then(Weak::upgrade);
        let Some(sleeper) = sleeper else { return (limit, false) };
        // Events that were left in the epoll would not end the loop's sleep.
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
