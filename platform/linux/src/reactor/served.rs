//! Channels to other domains, beside what the kernel watches.

use std::io;
use std::os::fd::AsRawFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use mio::unix::SourceFd;

use super::Reactor;
use crate::bindings::rings::Served;

impl Reactor {
    /// A channel to another domain is served from now on; gives the source that stands for it.
    pub(crate) fn serve(&self, served: Rc<dyn Served>) -> io::Result<usize> {
        let source = self.watch(&mut SourceFd(&served.end().borrow().event().as_raw_fd()))?;
        self.rings.add(served);
        Ok(source)
    }

    /// The program has ended: no channel is served any more.
    pub(crate) fn abandon(&self) {
        self.rings.abandon();
    }

    /// The channel isn't served any more.
    pub(crate) fn leave_alone(&self, source: usize, served: &dyn Served) {
        self.rings.remove(served);
        self.unwatch(source, &mut SourceFd(&served.end().borrow().event().as_raw_fd()));
    }

    /// Looks for events, and waits for them or for news of the rings; whether someone wants the program's attention.
    pub(super) fn rest(&self, limit: Option<Duration>) -> bool {
        if limit == Some(Duration::ZERO) {
            return self.look(limit);
        }
        if self.rings.is_empty() {
            return if self.has_sleeper() { self.look(limit) } else { self.look_patiently(limit) };
        }
        if !self.rings.lie_down(limit) {
            return false;
        }
        let notified = self.look(limit);
        self.rings.get_up();
        notified
    }

    /// Looks for events as long as they may come soon, then waits for them.
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
