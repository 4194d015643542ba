//! Another event loop on the home's thread. While there is one, it sleeps in the kernel in place of the reactor, and
//! watches the reactor's epoll, too: so neither needs a thread of its own, and events of either end the sleep.

use std::time::Duration;

/// See the head of this file.
pub trait Sleeper {
    /// Runs until it has news, or the reactor's epoll has events since it was last polled, or `limit` has passed; a
    /// limit of zero means without waiting. Gives the sources for which it has news.
    fn go_on(&self, limit: Option<Duration>) -> Vec<usize>;
}
