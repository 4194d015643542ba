//! Another loop of events on the home's thread. While there is one, it is that which sleeps in the kernel, and the
//! reactor's own epoll is among what it watches: so neither needs a thread of its own, and what comes by either wakes
//! both.

use std::time::Duration;

/// See the head of this file.
pub trait Sleeper {
    /// Goes on until it has news, or the reactor's epoll has some that came since the last look at it, or `limit` has
    /// passed; if that is no time at all, as far as it can without waiting. Gives the sources for which it has news.
    fn go_on(&self, limit: Option<Duration>) -> Vec<usize>;
}
