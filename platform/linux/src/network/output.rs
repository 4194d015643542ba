//! The service Output: writes to a connection or a pipe. `Write` collects bytes, to be sent together with the next
//! ones. While 64 KiB are unsent the service accepts no more, so a slow peer slows the writing component down and
//! doesn't fill the memory. `Update` answers when the kernel has taken everything. `Finish` ends sending and
//! `Close` ends both directions, after all that was written. A closed or deleted connection may take ten more
//! seconds to send the rest, but no client waits for that. Writes after a failure or the end are dropped, and
//! `Update` says why. A request that exceeds the time limit set by `Limit` is such a failure ("timeout"), because
//! the other side has only a part.

use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

use drystone_runtime::native::Caller;

use super::input::{Watched, limit};
use crate::interfaces::output::{OutputLater, UpdateAnswer};
use drystone_net::socket::{FULL, Socket};
use drystone_reactor::Direction;

/// Where bytes go.
pub(crate) trait Outgoing: Watched {
    /// Takes bytes to be sent, soon. After a failure, or the end of writing, they are dropped.
    fn write(&self, bytes: &[u8]);
    /// Nothing more will be written.
    fn finish(&self);
    /// Sends at once.
    fn send(&self);
    /// Ends both ways. What was written before is still sent.
    fn close(&self);
    /// How many bytes wait to be sent.
    fn unsent(&self) -> usize;
    /// Why nothing can be written any more.
    fn failure(&self) -> Option<String>;
    /// The other side has taken too long to receive.
    fn expire(&self);
}

impl Outgoing for Socket {
    fn write(&self, bytes: &[u8]) {
        self.write(bytes);
    }

    fn finish(&self) {
        self.finish();
    }

    fn send(&self) {
        self.send(true);
    }

    fn close(&self) {
        self.close();
    }

    fn unsent(&self) -> usize {
        self.unsent()
    }

    fn failure(&self) -> Option<String> {
        self.failure()
    }

    fn expire(&self) {
        self.expire();
    }
}

/// A client that writes.
pub(crate) struct Writer<S> {
    stream: Rc<S>,
    limit: Option<Duration>,
    /// If the first step of the waiting request has been done: its deadline, if it has one.
    waits: Option<Option<Instant>>,
}

impl<S: Outgoing> Writer<S> {
    pub(crate) fn new(stream: Rc<S>) -> Writer<S> {
        Writer { stream, limit: None, waits: None }
    }

    /// Does the first step of a request, unless that was done.
    fn begin(&mut self, act: impl FnOnce(&S)) {
        if self.waits.is_none() {
            act(&self.stream);
            self.waits = Some(self.limit.and_then(|limit| Instant::now().checked_add(limit)));
        }
    }

    /// Waits until at most `most` bytes are unsent, or none of them can be sent any more.
    fn until_unsent(&mut self, caller: &Caller, most: usize) -> Poll<()> {
        let deadline = self.waits.flatten();
        if !self.stream.is_closed() && self.stream.unsent() > most {
            if deadline.is_none_or(|deadline| Instant::now() < deadline) {
                let source = Some((self.stream.source(), Direction::Write));
                self.stream.reactor().wait_for(caller.waiter(), source, deadline);
                return Poll::Pending;
            }
            self.stream.expire();
        }
        self.waits = None;
        Poll::Ready(())
    }
}

impl<S: Outgoing> OutputLater for Writer<S> {
    fn limit(&mut self, _: &Caller, milliseconds: i64) -> Poll<()> {
        self.limit = limit(milliseconds);
        Poll::Ready(())
    }

    fn write(&mut self, caller: &Caller, x: &[u8]) -> Poll<()> {
        self.begin(|stream| stream.write(x));
        self.until_unsent(caller, FULL - 1)
    }

    fn finish(&mut self, caller: &Caller) -> Poll<()> {
        self.begin(S::finish);
        self.until_unsent(caller, FULL - 1)
    }

    fn update(&mut self, caller: &Caller) -> Poll<UpdateAnswer<'_>> {
        self.begin(S::send);
        if self.until_unsent(caller, 0).is_pending() {
            return Poll::Pending;
        }
        let is_left = self.stream.unsent() > 0;
        let failure = self.stream.failure().or_else(|| is_left.then(|| "closed".to_string()));
        Poll::Ready(match failure {
            Some(reason) => UpdateAnswer::Failed { reason: reason.into() },
            None => UpdateAnswer::Done,
        })
    }

    fn close(&mut self, _: &Caller) -> Poll<()> {
        self.stream.close();
        Poll::Ready(())
    }
}
