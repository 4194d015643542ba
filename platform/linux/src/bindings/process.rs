//! `AT "process:store"`: a component in a Linux process of its own.
//!
//! The program has a helper, the *zygote*: a process that was forked from it, has the same code and descriptions at the same
//! addresses, and does nothing but fork the processes of domains. So a domain doesn't take over what the program is just
//! at, and a template is named by its address. The zygote ends with the program, and the domains with the zygote.

mod zygote;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;

use drystone_component::{Interface, Program, Template};
use drystone_runtime::binding::Hints;
use drystone_runtime::far::{Domain, Exported, Reach};
use mio::unix::SourceFd;
use rustix::process::{Signal, pidfd_send_signal};

use super::Scheme;
use super::channel::{self, Trust};
use super::confine::Confinement;
use super::domain::{Place, Remote};
use super::line::Line;
use crate::Options;
use crate::reactor::{Handler, Reactor};
use crate::reason::reason;
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
    ) -> io::Result<Remote<Child>> {
        let (here, there) = channel::pair()?;
        if self.zygote.is_none() {
            self.zygote = Some(Zygote::new(self.program, &self.options)?);
        }
        let zygote = self.zygote.as_ref().expect("it was made just before");
        let (_, process) = zygote.fork(template, confinement, &there)?;
        let child = Child { name: format!("process:{name}"), process, watched: None };
        Remote::new(template, (here, Trust::None), child, &self.reactor)
    }
}

impl Scheme for Processes {
    fn bind(&mut self, _: &'static Interface, _: &str, _: &Hints<'_>) -> Result<Box<dyn Reach>, String> {
        Err(NO_NAMES.into())
    }

    fn export(&mut self, _: &'static Interface, _: &str, _: &Hints<'_>) -> Result<Box<dyn Exported>, String> {
        Err(NO_NAMES.into())
    }

    fn domain(
        &mut self,
        template: &'static Template,
        rest: &str,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Domain>, String> {
        let confinement = Confinement::new(hints)?;
        Ok(Box::new(self.make(template, rest, &confinement).map_err(|error| reason(&error))?))
    }
}

const NO_NAMES: &str = "components are made there (NEW .. AT), and connected as others are";

/// The process of a domain.
struct Child {
    name: String,
    /// Readable when it has ended.
    process: OwnedFd,
    watched: Option<(Rc<Reactor>, usize)>,
}

impl Place for Child {
    fn watch(&mut self, line: &Rc<Line>) -> io::Result<()> {
        let reactor = line.reactor();
        let source = reactor.watch(&mut SourceFd(&self.process.as_raw_fd()))?;
        reactor.handle(source, Rc::new(Death { line: line.clone(), name: self.name.clone() }));
        self.watched = Some((reactor.clone(), source));
        Ok(())
    }

    fn end(&mut self) {
        // It may have ended already.
        let _ = pidfd_send_signal(&self.process, Signal::KILL);
        if let Some((reactor, source)) = self.watched.take() {
            reactor.unwatch(source, &mut SourceFd(&self.process.as_raw_fd()));
        }
    }
}

/// Hears of a process' end.
struct Death {
    line: Rc<Line>,
    name: String,
}

impl Handler for Death {
    fn ready(&self) {
        self.line.end(&format!("{}: the process has ended", self.name));
    }
}
