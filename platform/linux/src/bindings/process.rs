//! `AT "process:store"`: a component in a Linux process of its own.
//!
//! The program has a helper, the *zygote*: a process that was forked from it, has the same code and descriptions at the same
//! addresses, and does nothing but fork the processes of domains, so that a template is named by its address. It is forked
//! when the first domain is made: what the program has in memory by then, each domain has a copy of, which it knows nothing
//! of. The zygote ends with the program, and the domains with the zygote.
//!
//! # Soundness
//!
//! The system call gets one valid structure.

mod share;
mod zygote;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;

use drystone_component::{Name, Program, Template};
use drystone_runtime::binding::{Hints, ResourceManager};
use drystone_runtime::far::Domain;
use mio::unix::SourceFd;
use rustix::process::{Signal, pidfd_send_signal};

use super::channel::{self, Trust};
use super::confine::Confinement;
use super::domain::{self, Link, Place, Remote};
use crate::Options;
use crate::reactor::{Handler, Reactor};
use crate::reason::reason;
use share::Share;
use zygote::Zygote;

/// Names of processes.
pub(crate) struct Processes {
    program: &'static Program,
    options: Options,
    reactor: Rc<Reactor>,
    zygote: Option<Zygote>,
}

impl Processes {
    pub(crate) fn new(program: &'static Program, options: &Options, reactor: &Rc<Reactor>) -> Processes {
        Processes { program, options: options.clone(), reactor: reactor.clone(), zygote: None }
    }

    fn make(
        &mut self,
        template: &'static Template,
        name: &str,
        confinement: &Confinement,
        capacity: u32,
    ) -> io::Result<Remote<Child>> {
        let (here, there) = channel::pair()?;
        if self.zygote.is_none() {
            self.zygote = Some(Zygote::new(self.program, &self.options)?);
        }
        let zygote = self.zygote.as_ref().expect("it was made just before");
        let (number, process) = zygote.fork(template, confinement, capacity, &there)?;
        let mut child = Child { process: Rc::new(process), watched: None, share: None };
        if let Some(per_cent) = confinement.processor {
            let share = Share::new(number, per_cent);
            child.share = Some(share.inspect_err(|_| child.end())?);
        }
        Remote::new(&format!("process:{name}"), template, (here, Trust::None), child, &self.reactor, capacity)
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
        let capacity = domain::capacity(hints)?;
        Ok(Box::new(
            self.make(template, name.rest(), &confinement, capacity).map_err(|error| reason(&error))?,
        ))
    }
}

/// The process of a domain.
struct Child {
    /// Readable when it has ended.
    process: Rc<OwnedFd>,
    watched: Option<(Rc<Reactor>, usize)>,
    share: Option<Share>,
}

/// How long to wait for a process' end where that is needed, in milliseconds: it has been killed.
const DYING: i32 = 1000;

/// Whether the process has ended, or does so within that many milliseconds.
fn has_ended(process: &OwnedFd, within: i32) -> bool {
    let mut entry = libc::pollfd { fd: process.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry.
    unsafe { libc::poll(&mut entry, 1, within) > 0 }
}

impl Place for Child {
    fn watch(&mut self, link: &Rc<Link>) -> io::Result<()> {
        let reactor = link.reactor();
        let source = reactor.watch(&mut SourceFd(&self.process.as_raw_fd()))?;
        reactor.handle(source, Rc::new(Death { link: link.clone(), process: self.process.clone() }));
        self.watched = Some((reactor.clone(), source));
        Ok(())
    }

    fn end(&mut self) {
        // It may have ended already.
        let _ = pidfd_send_signal(&*self.process, Signal::KILL);
        if let Some((reactor, source)) = self.watched.take() {
            reactor.unwatch(source, &mut SourceFd(&self.process.as_raw_fd()));
        }
        if self.share.is_some() {
            // Its control group can't go before it.
            has_ended(&self.process, DYING);
            self.share.take();
        }
    }
}

/// Hears of a process' end.
struct Death {
    link: Rc<Link>,
    process: Rc<OwnedFd>,
}

impl Handler for Death {
    fn ready(&self) {
        if has_ended(&self.process, 0) {
            self.link.end("the process has ended");
        }
    }
}
