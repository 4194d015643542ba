//! Channels to other domains, which are polled beside what the kernel watches.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use drystone_kortex::Expected;
use drystone_kortex::domain::{Home, Rings};

use super::Reactor;

impl Home for Reactor {
    fn rings(&self) -> &Rings {
        &self.rings
    }

    fn expected(&self) -> &Expected {
        &self.expected
    }

    fn report(&self, message: &str) {
        let _ = io::stderr().write_all(message.as_bytes());
    }
}

impl Reactor {
    /// The program has ended: no channel is served any more.
    pub fn abandon(&self) {
        self.rings.abandon();
    }

    /// Waits for events or news of the rings; whether another thread wants attention, or a handler ran.
    pub(crate) fn rest(&self, limit: Option<Duration>) -> bool {
        if limit == Some(Duration::ZERO) {
            return self.look(limit);
        }
        if self.rings.is_empty() {
            return if self.has_sleeper() { self.look(limit) } else { self.look_patiently(limit) };
        }
        let patience = &mut *self.patience_with_rings.borrow_mut();
        if patience.look(limit, || self.rings.have_news()) || !self.rings.lie_down() {
            return false;
        }
        let start = Instant::now();
        let notified = self.look(limit);
        self.rings.get_up();
        if self.rings.have_news() {
            patience.slept(start.elapsed());
        }
        notified
    }

    /// Polls for events as long as they may come soon, then sleeps until they come.
    fn look_patiently(&self, limit: Option<Duration>) -> bool {
        let mut notified = false;
        let mut has_news = || {
            notified |= self.look(Some(Duration::ZERO));
            notified || !self.state.borrow().woken.is_empty()
        };
        let patience = &mut *self.patience.borrow_mut();
        if !patience.is_at_an_end() && patience.look(limit, &mut has_news) {
            return notified;
        }
        let start = Instant::now();
        let notified = self.look(limit);
        if notified || !self.state.borrow().woken.is_empty() {
            patience.slept(start.elapsed());
        }
        notified
    }
}
