//! The service Output: writes to a connection. `Write` collects bytes, to be sent together with the next ones. While 64
//! KiB are unsent the service accepts no more, so a slow peer slows the writing component down and doesn't fill the
//! memory. `Update` answers when the kernel has taken everything. `Finish` ends sending and `Close` ends both
//! directions, after all that was written. A closed or deleted connection may take ten more seconds to send the rest,
//! but no client waits for that. Writes after a failure or the end are dropped, and `Update` says why.

use std::rc::Rc;
use std::task::Poll;

use drystone_runtime::native::Caller;

use crate::interfaces::output::{OutputLater, UpdateAnswer};
use drystone_net::socket::{FULL, Socket};
use drystone_reactor::Direction;

/// A client that writes.
pub(super) struct Writer {
    socket: Rc<Socket>,
    /// The first step of the waiting request has been done.
    begun: bool,
}

impl Writer {
    pub(super) fn new(socket: Rc<Socket>) -> Writer {
        Writer { socket, begun: false }
    }

    /// Does the first step of a request, unless that was done.
    fn begin(&mut self, act: impl FnOnce(&Socket)) {
        if !std::mem::replace(&mut self.begun, true) {
            act(&self.socket);
        }
    }

    /// Waits until at most `most` bytes are unsent, or none of them can be sent any more.
    fn until_unsent(&mut self, caller: &Caller, most: usize) -> Poll<()> {
        if !self.socket.is_closed() && self.socket.unsent() > most {
            let source = Some((self.socket.source(), Direction::Write));
            self.socket.reactor().wait_for(caller.waiter(), source, None);
            return Poll::Pending;
        }
        self.begun = false;
        Poll::Ready(())
    }
}

impl OutputLater for Writer {
    fn write(&mut self, caller: &Caller, x: &[u8]) -> Poll<()> {
        self.begin(|socket| socket.write(x));
        self.until_unsent(caller, FULL - 1)
    }

    fn finish(&mut self, caller: &Caller) -> Poll<()> {
        self.begin(Socket::finish);
        self.until_unsent(caller, FULL - 1)
    }

    fn update(&mut self, caller: &Caller) -> Poll<UpdateAnswer<'_>> {
        self.begin(|socket| socket.send(true));
        if self.until_unsent(caller, 0).is_pending() {
            return Poll::Pending;
        }
        let is_left = self.socket.unsent() > 0;
        let failure = self.socket.failure().or_else(|| is_left.then(|| "closed".to_string()));
        Poll::Ready(match failure {
            Some(reason) => UpdateAnswer::Failed { reason: reason.into() },
            None => UpdateAnswer::Done,
        })
    }

    fn close(&mut self, _: &Caller) -> Poll<()> {
        self.socket.close();
        Poll::Ready(())
    }
}
