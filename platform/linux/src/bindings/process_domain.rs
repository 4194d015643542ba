//! `AT "process:store"`, or `"user:store"`: runs a component in a Linux process of its own.
//!
//! The program has a helper, the *zygote*: a process forked from it, which forks the processes of domains. All of them
//! have the same code and descriptions at the same addresses, so a template is named by its address. The zygote is
//! forked when the first domain is made. Each domain has a copy of the program's memory at that time, and never uses
//! it. The zygote ends with the program, and the domains end with the zygote.
//!
//! # Soundness
//!
//! The system call gets one valid structure.

mod share;
mod zygote;

use std::cell::Cell;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::rc::Rc;

use drystone_component::{Name, Template};
use drystone_kortex::domain::{Link, Remote, Trust, capacity};
use drystone_runtime::binding::{Hints, ResourceManager};
use drystone_runtime::far::Domain;
use mio::unix::SourceFd;
use rustix::process::{Signal, pidfd_send_signal};

use super::channel;
use super::confine::Confinement;
use super::domain::Holder;
use drystone_reactor::reason;
use drystone_reactor::{Handler, Reactor};
use share::Share;
use zygote::Zygote;

/// The resource manager for processes.
pub(crate) struct Processes {
    holder: Holder,
    zygote: Option<Rc<Zygote>>,
}

impl Processes {
    pub(crate) fn new(holder: Holder) -> Processes {
        Processes { holder, zygote: None }
    }

    fn make(
        &mut self,
        template: &'static Template,
        name: &str,
        confinement: &Confinement,
        capacity: u32,
    ) -> io::Result<Remote<Child>> {
        let Processes { holder, zygote } = self;
        let (here, there) = channel::pair()?;
        if zygote.is_none() {
            *zygote = Some(Rc::new(Zygote::new(holder.program, &holder.options, holder.run)?));
        }
        let zygote = zygote.clone().expect("it was made just before");
        let (number, process) = zygote.fork(template, confinement, capacity, &there)?;
        let process = Rc::new(Process { zygote, number, process, is_buried: Cell::default() });
        let mut child = Child { process, watched: None, share: None };
        if let Some(per_cent) = confinement.processor {
            child.share = Some(Share::new(number, per_cent)?);
        }
        let link = holder.link(name, (here, Trust::None), capacity)?;
        child.watch(&link, &holder.reactor).inspect_err(|_| link.hang_up())?;
        Ok(Remote::new(template, link, child))
    }
}

impl ResourceManager for Processes {
    fn create(
        &mut self,
        template: &'static Template,
        name: Name<'_>,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Domain>, String> {
        let confinement = Confinement::new(hints)?;
        let capacity = capacity(hints)?;
        Ok(Box::new(
            self.make(template, name.whole(), &confinement, capacity).map_err(|error| reason(&error))?,
        ))
    }
}

/// The process of a domain, which ends when this is dropped.
struct Child {
    process: Rc<Process>,
    watched: Option<(Rc<Reactor>, usize)>,
    share: Option<Share>,
}

struct Process {
    zygote: Rc<Zygote>,
    number: u32,
    /// A pidfd, which is readable when the process has ended.
    process: OwnedFd,
    /// The zygote has been asked to reap it.
    is_buried: Cell<bool>,
}

/// Milliseconds to wait for the end of a killed process, where that is needed.
const DYING: i32 = 1000;

impl Process {
    /// Whether the process has ended, or ends within that many milliseconds.
    fn has_ended(&self, within: i32) -> bool {
        let mut entry = libc::pollfd { fd: self.process.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the array has one entry.
        unsafe { libc::poll(&mut entry, 1, within) > 0 }
    }

    /// How it has ended, for people.
    fn how_ended(&self) -> String {
        if self.is_buried.replace(true) {
            return "its process has ended".into();
        }
        match self.zygote.how_ended(self.number).map(|status| (status.signal(), status.code())) {
            Some((Some(signal), _)) => format!("its process was killed by {}", named(signal)),
            Some((_, Some(status))) => format!("its process has ended with status {status}"),
            _ => "its process has ended, with the one that forks those of domains (zygote)".into(),
        }
    }
}

/// A signal's name, for people.
fn named(signal: i32) -> String {
    let name = match signal {
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGHUP => "SIGHUP",
        libc::SIGILL => "SIGILL",
        libc::SIGKILL => "SIGKILL",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGSYS => "SIGSYS",
        libc::SIGTERM => "SIGTERM",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGXCPU => "SIGXCPU",
        other => return format!("signal {other}"),
    };
    format!("signal {signal} ({name})")
}

impl Child {
    /// Has the link told when the process ends.
    fn watch(&mut self, link: &Rc<Link>, reactor: &Rc<Reactor>) -> io::Result<()> {
        let source = reactor.watch(&mut SourceFd(&self.process.process.as_raw_fd()))?;
        reactor.handle(source, Rc::new(Death { link: link.clone(), process: self.process.clone() }));
        self.watched = Some((reactor.clone(), source));
        Ok(())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = pidfd_send_signal(&self.process.process, Signal::KILL);
        if let Some((reactor, source)) = self.watched.take() {
            reactor.unwatch(source, &mut SourceFd(&self.process.process.as_raw_fd()));
        }
        if self.share.is_some() {
            // The control group can't be removed before the process has ended.
            self.process.has_ended(DYING);
            self.share.take();
        }
        if !self.process.is_buried.replace(true) {
            self.process.zygote.bury(self.process.number);
        }
    }
}

/// Handles the end of a process.
struct Death {
    link: Rc<Link>,
    process: Rc<Process>,
}

impl Handler for Death {
    fn ready(&self) {
        if !self.link.is_lost() && self.process.has_ended(0) {
            self.link.end(&self.process.how_ended());
        }
    }
}
