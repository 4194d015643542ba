//! Channels to other domains, beside what the kernel watches.

use std::io;
use std::os::fd::AsRawFd;
use std::rc::Rc;
use std::time::Duration;

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
        if self.rings.is_empty() || limit == Some(Duration::ZERO) {
            return self.look(limit);
        }
        if !self.rings.lie_down(limit) {
            return false;
        }
        let notified = self.look(limit);
        self.rings.get_up();
        notified
    }
}
