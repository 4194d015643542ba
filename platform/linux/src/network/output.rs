//! The service Output: what goes into a connection. `Write` hands bytes over, to be sent together with what follows
//! soon; while 64 KiB wait to be sent the service takes no more, so that a slow peer slows the writing component down
//! and not the memory fills. `Update` answers when the kernel has everything. `Finish` ends sending and `Close` ends
//! both ways, after what was written; a connection that is closed or deleted may take ten seconds more to send the
//! rest, but whoever waits for it, also another client, doesn't any longer. Writes after a failure or the end are
//! dropped; `Update` says why.

use std::rc::Rc;
use std::task::Poll;

use drystone_runtime::native::Caller;

use crate::interfaces::output::{OutputLater, UpdateAnswer};
use drystone_net::socket::{FULL, Socket};
use drystone_reactor::Direction;

/// A client that writes.
pub(super) struct Writer {
    socket: Rc<Socket>,
    /// The request that waits has been begun: what it had to do at first is done.
    begun: bool,
}

impl Writer {
    pub(super) fn new(socket: Rc<Socket>) -> Writer {
        Writer { socket, begun: false }
    }

    /// Does something with the socket, the first time that it is asked to.
    fn begin(&mut self, act: impl FnOnce(&Socket)) {
        if !std::mem::replace(&mut self.begun, true) {
            act(&self.socket);
        }
    }

    /// Waits until no more than so many bytes are unsent, or will never be sent.
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
