//! A service process's turn, and what serves a client in it.

use alloc::boxed::Box;
use alloc::rc::Rc;
use core::any::Any;

use super::here::Here;
use super::interface::{Binding, Declaration};
use super::{park, platform, unpark};
use crate::communication::{drop_first, ds_received};
use crate::layout::*;

/// What serves one client, whatever its interface.
pub struct Serving {
    pub(super) serve: Box<dyn Serve>,
    pub(super) declaration: &'static Declaration,
}

/// What a service process does for its client.
pub(super) trait Serve {
    /// The first turn begins; [`Serve::run`] follows.
    fn begin(&mut self, _turn: &Turn, _here: &Rc<Here>) {}

    /// Goes on.
    fn run(&mut self, turn: &Turn) -> Outcome;

    /// A request has come while it was parked with its communication marked: see the calls module.
    fn called(&mut self, turn: &Turn) -> Outcome {
        self.run(turn)
    }

    /// The object whose methods are the calls, if it is one.
    fn object(&mut self) -> Option<&mut dyn Any> {
        None
    }
}

/// What became of a run.
#[derive(PartialEq)]
pub(super) enum Outcome {
    /// It has to wait: the process is queued somewhere, or parked.
    Waits,
    /// It has come to its end.
    Ended,
}

/// A service process that has its turn.
///
/// *What it stands for*: at home (see [`crate::home`]), the process is alive, a service of this interface, and has its
/// turn as long as this is used; so it is a live communication, too.
pub(super) struct Turn {
    pub(super) worker: *mut Worker,
    pub(super) process: *mut Process,
    pub(super) binding: &'static Binding,
}

impl Turn {
    pub(super) fn communication(&self) -> *mut Communication {
        self.process.cast()
    }

    /// How the communication stands now.
    pub(super) fn word(&self) -> CommunicationWord {
        // SAFETY: the communication is live.
        unsafe { (*self.communication()).word }
    }

    /// A message of the client's is there.
    pub(super) fn has_request(&self) -> bool {
        self.word().is_unread()
    }

    /// Takes the request out of the buffer.
    pub(super) fn take_request(&self) {
        self.drop_request();
        // SAFETY: the communication is live, and its request taken.
        unsafe { ds_received(self.worker, self.communication()) }
    }

    /// Drops what the request in the buffer carries.
    pub(super) fn drop_request(&self) {
        // SAFETY: the buffer holds it.
        unsafe { drop_first(self.worker, self.communication(), self.binding.interface) }
    }

    pub(super) fn client_closed(&self) -> bool {
        self.word().flags & (CLIENT_CLOSED | GONE) != 0
    }

    /// Whether nothing more will be received: neither side can send any more, or the client has closed.
    pub(super) fn is_over(&self) -> bool {
        !self.has_request() && (self.client_closed() || !self.word().goes_on(self.binding.interface))
    }

    /// Marks the communication as one whose requests are answered at once, or takes that mark away.
    pub(super) fn mark(&self, is_called: bool) {
        // SAFETY: the communication is live, and nobody else looks at the word meanwhile.
        let flags = unsafe { &mut (*self.communication()).word.flags };
        // A service that is called needs no stream: each message is taken when it is sent.
        *flags = if is_called { *flags & !STREAMS | CALLS } else { *flags & !CALLS };
    }

    /// Goes on in the process's own turn, and not within a call.
    pub(super) fn put_off(&self) -> Outcome {
        self.mark(false);
        // SAFETY: the process is alive.
        unsafe { unpark(self.worker, self.process) }
        Outcome::Waits
    }

    /// Waits for the platform; the client's closing ends the wait too.
    pub(super) fn park(&self) -> Outcome {
        // SAFETY: the process has its turn, which ends after this.
        unsafe { park(self.worker, self.process) }
        Outcome::Waits
    }

    /// The platform may have it registered still, if it wasn't the one to wake it.
    pub(super) fn forget(&self) {
        // SAFETY: at home.
        unsafe { (*platform(self.worker)).forget(self.process) }
    }
}
