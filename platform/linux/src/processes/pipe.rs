//! Pipes to and from a process.

use std::cell::{Cell, RefCell};
use std::io::{self, Read};
use std::process::ChildStdin;
use std::rc::{Rc, Weak};

use drystone_net::outflow::Outflow;
use drystone_reactor::{Direction, Drain, Reactor};
use mio::unix::pipe::{Receiver, Sender};

use crate::network::input::{Incoming, Watched};
use crate::network::output::Outgoing;

/// The end that this process reads from.
pub(super) struct Outlet {
    reactor: Rc<Reactor>,
    pipe: RefCell<Receiver>,
    source: usize,
}

impl Outlet {
    /// # Errors
    /// The system can't watch one more.
    pub(super) fn new(reactor: &Rc<Reactor>, mut pipe: Receiver) -> io::Result<Outlet> {
        pipe.set_nonblocking(true)?;
        let source = reactor.watch(&mut pipe)?;
        Ok(Outlet { reactor: reactor.clone(), pipe: RefCell::new(pipe), source })
    }
}

impl Watched for Outlet {
    fn reactor(&self) -> &Rc<Reactor> {
        &self.reactor
    }

    fn source(&self) -> usize {
        self.source
    }

    fn is_closed(&self) -> bool {
        false
    }
}

impl Incoming for Outlet {
    fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.pipe.borrow_mut().read(bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

impl Drop for Outlet {
    fn drop(&mut self) {
        self.reactor.unwatch(self.source, self.pipe.get_mut());
    }
}

/// The end that this process writes to.
pub(super) struct Inlet {
    me: Weak<Inlet>,
    reactor: Rc<Reactor>,
    /// `None`: it is closed.
    pipe: RefCell<Option<Sender>>,
    source: usize,
    output: RefCell<Outflow>,
    closed: Cell<bool>,
}

impl Inlet {
    /// # Errors
    /// The system can't watch one more.
    pub(super) fn new(reactor: &Rc<Reactor>, pipe: ChildStdin) -> io::Result<Rc<Inlet>> {
        let mut pipe = Sender::from(pipe);
        pipe.set_nonblocking(true)?;
        let source = reactor.watch(&mut pipe)?;
        Ok(Rc::new_cyclic(|me| Inlet {
            me: me.clone(),
            reactor: reactor.clone(),
            pipe: RefCell::new(Some(pipe)),
            source,
            output: RefCell::default(),
            closed: Cell::new(false),
        }))
    }

    /// What is left can't be written, and the process gets no more.
    fn abandon(&self, why: io::Error) {
        self.output.borrow_mut().fail(why);
        self.pipe.take();
        // Nothing is left, so the reactor needs it no more.
        self.reactor.drain(self.source);
    }

    fn send(&self, now: bool) {
        if !(now && self.drain()) {
            self.reactor.drain_later(self.source, self.me.upgrade().expect("is used through it"));
        }
    }
}

impl Watched for Inlet {
    fn reactor(&self) -> &Rc<Reactor> {
        &self.reactor
    }

    fn source(&self) -> usize {
        self.source
    }

    fn is_closed(&self) -> bool {
        self.closed.get()
    }
}

impl Outgoing for Inlet {
    fn write(&self, bytes: &[u8]) {
        let taken = self.output.borrow_mut().take(bytes);
        if let Some(many) = taken {
            self.send(many);
        }
    }

    fn finish(&self) {
        self.output.borrow_mut().finish();
        self.send(true);
    }

    fn send(&self) {
        self.send(true);
    }

    fn close(&self) {
        self.closed.set(true);
        self.finish();
        self.reactor.leave(self.source);
        self.reactor.wake(self.source, Direction::Write);
    }

    fn unsent(&self) -> usize {
        self.output.borrow().unsent()
    }

    fn failure(&self) -> Option<String> {
        self.output.borrow().failure()
    }

    fn expire(&self) {
        self.abandon(io::Error::other("timeout"));
    }
}

impl Drain for Inlet {
    fn drain(&self) -> bool {
        let (mut pipe, mut output) = (self.pipe.borrow_mut(), self.output.borrow_mut());
        let Some(open) = &mut *pipe else { return true };
        let drained = output.drain(open);
        if drained && output.is_finished() {
            // The process sees the end.
            *pipe = None;
        }
        drained
    }

    fn give_up(&self) {
        self.abandon(io::ErrorKind::TimedOut.into());
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        match self.pipe.get_mut() {
            Some(pipe) => self.reactor.unwatch(self.source, pipe),
            None => self.reactor.remove(self.source),
        }
    }
}
