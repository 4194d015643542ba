//! ErrorOutput: standard error. What components write comes whole and in order, between the system's own messages,
//! and after what the program has written to standard output before. `Write` waits while 64 KiB are unread; no
//! other process does. `Update` answers when the kernel has taken everything. Writes after a failure are dropped,
//! and `Update` says why.

use std::rc::Rc;
use std::task::Poll;

use drystone_net::socket::FULL;
use drystone_runtime::native::Caller;

use crate::interfaces::error_output::{ErrorOutputLater, UpdateAnswer};
use crate::outlet::Errors;

/// A client that writes.
pub(crate) struct ErrorWriter {
    errors: Rc<Errors>,
    /// The waiting request's text has been taken.
    begun: bool,
}

impl ErrorWriter {
    pub(crate) fn new(errors: Rc<Errors>) -> ErrorWriter {
        ErrorWriter { errors, begun: false }
    }

    /// Waits until at most `most` bytes are unread.
    fn until_unread(&mut self, caller: &Caller, most: usize) -> Poll<()> {
        if self.errors.unsent() > most {
            self.errors.wait_for_room(caller.waiter());
            return Poll::Pending;
        }
        self.begun = false;
        Poll::Ready(())
    }
}

impl ErrorOutputLater for ErrorWriter {
    fn write(&mut self, caller: &Caller, x: &[u8]) -> Poll<()> {
        if !std::mem::replace(&mut self.begun, true) {
            self.errors.add(x);
        }
        self.until_unread(caller, FULL - 1)
    }

    fn update(&mut self, caller: &Caller) -> Poll<UpdateAnswer<'_>> {
        self.until_unread(caller, 0).map(|()| match self.errors.failure() {
            Some(reason) => UpdateAnswer::Failed { reason: reason.into() },
            None => UpdateAnswer::Done,
        })
    }
}
