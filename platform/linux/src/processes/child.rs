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

    /// Kills the process, and waits until it has ended.
    fn reap(&self) {
        if self.status().is_none() {
            self.signal(Signal::KILL);
            self.status.set(self.process.borrow_mut().wait().ok());
        }
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
    /// A process that nobody can observe any more has no use.
    fn drop(&mut self) {
        self.reap();
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

    /// Kills and reaps those that are left: the program has ended, perhaps before its components.
    pub(crate) fn end(&self) {
        let children: Vec<Rc<Child>> = self.0.take().iter().filter_map(Weak::upgrade).collect();
        // They end at the same time.
        children.iter().for_each(|child| child.signal(Signal::KILL));
        children.iter().for_each(|child| child.reap());
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use super::*;

    fn sleeper(reactor: &Rc<Reactor>) -> (Rc<Child>, String) {
        let process = Command::new("sleep").arg("1000").spawn().expect("it starts");
        let entry = format!("/proc/{}", process.id());
        (Child::new(reactor, process).expect("it can be watched"), entry)
    }

    #[test]
    fn a_process_that_is_let_go_is_gone() {
        let reactor = Reactor::new().expect("there is one");
        let (child, entry) = sleeper(&reactor);
        assert!(Path::new(&entry).exists());
        drop(child);
        assert!(!Path::new(&entry).exists());
    }

    #[test]
    fn at_the_end_all_are_reaped() {
        let reactor = Reactor::new().expect("there is one");
        let children = Children::default();
        let all = [sleeper(&reactor), sleeper(&reactor)];
        all.iter().for_each(|(child, _)| children.add(child));
        children.end();
        assert!(all.iter().all(|(_, entry)| !Path::new(entry).exists()));
    }
}
