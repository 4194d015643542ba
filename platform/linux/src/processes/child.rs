//! A process that was started: its status, and its end.

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{self, ExitStatus};
use std::rc::{Rc, Weak};

use drystone_reactor::{Handler, Reactor};
use mio::unix::SourceFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// See the head of this file.
pub(crate) struct Child {
    reactor: Rc<Reactor>,
    process: RefCell<process::Child>,
    /// It is readable when the process has ended.
    pidfd: OwnedFd,
    source: usize,
    status: Cell<Option<ExitStatus>>,
}

impl Child {
    /// # Errors
    /// The system can't watch one more; the process has been ended.
    pub(super) fn new(reactor: &Rc<Reactor>, mut process: process::Child) -> io::Result<Rc<Child>> {
        let watched = pidfd_open(Pid::from_child(&process), PidfdFlags::empty())
            .map_err(io::Error::from)
            .and_then(|pidfd| Ok((reactor.watch(&mut SourceFd(&pidfd.as_raw_fd()))?, pidfd)));
        let (source, pidfd) = watched.inspect_err(|_| {
            let _ = process.kill();
            let _ = process.wait();
        })?;
        let (reactor, process) = (reactor.clone(), RefCell::new(process));
        Ok(Rc::new(Child { reactor, process, pidfd, source, status: Cell::new(None) }))
    }

    /// The reactor, and its source for the end of the process.
    pub(super) fn watched(&self) -> (&Rc<Reactor>, usize) {
        (&self.reactor, self.source)
    }

    /// How the process has ended, if it has. Then it is reaped.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        if self.status.get().is_none() {
            // Without an error, as nobody else waits for it.
            self.status.set(self.process.borrow_mut().try_wait().ok().flatten());
        }
        self.status.get()
    }

    /// Sends a signal. It does nothing after the end.
    pub(super) fn signal(&self, signal: Signal) {
        let _ = pidfd_send_signal(&self.pidfd, signal);
    }

    /// Kills the process, and has it reaped as soon as it has ended.
    pub(super) fn end(self: &Rc<Child>) {
        self.signal(Signal::KILL);
        if self.status().is_none() {
            // The source keeps it until then.
            self.reactor.handle(self.source, Rc::new(Burial(self.clone())));
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.reactor.unwatch(self.source, &mut SourceFd(&self.pidfd.as_raw_fd()));
    }
}

/// Reaps a process when it has ended.
struct Burial(Rc<Child>);

impl Handler for Burial {
    fn ready(&self) {
        let Burial(child) = self;
        if child.status().is_some() {
            child.reactor.unhandle(child.source);
        }
    }
}

/// All that a program has started.
#[derive(Default)]
pub(crate) struct Children(RefCell<Vec<Weak<Child>>>);

impl Children {
    pub(super) fn add(&self, child: &Rc<Child>) {
        let mut children = self.0.borrow_mut();
        if children.len() == children.capacity() {
            children.retain(|child| child.strong_count() > 0);
        }
        children.push(Rc::downgrade(child));
    }

    /// Kills those that are left: the program has ended, perhaps before its components.
    pub(crate) fn end(&self) {
        for child in self.0.take().iter().filter_map(Weak::upgrade) {
            child.signal(Signal::KILL);
        }
    }
}
