//! `AT "worker:1"`: a component with a thread of its own, on which a second home runs it.

use std::io;
use std::rc::Rc;
use std::thread;

use drystone_component::{Name, Program, Template};
use drystone_runtime::binding::{Hints, ResourceManager};
use drystone_runtime::far::Domain;

use super::channel::{self, Trust};
use super::domain::{self, Link, Place, Remote};
use crate::Options;
use crate::reactor::Reactor;
use crate::reason::reason;

/// Names of this program's workers.
pub(crate) struct Workers {
    program: &'static Program,
    options: Options,
    reactor: Rc<Reactor>,
}

impl Workers {
    pub(crate) fn new(program: &'static Program, options: &Options, reactor: &Rc<Reactor>) -> Workers {
        // It is one worker, and uses none of the program's others.
        let options = Options { cores: 1, ..options.clone() };
        Workers { program, options, reactor: reactor.clone() }
    }

    fn make(&self, template: &'static Template, worker: u32, capacity: u32) -> io::Result<Remote<Thread>> {
        let (here, there) = channel::pair()?;
        let (program, options) = (self.program, self.options.clone());
        let run = move || {
            // An end that nobody hears of otherwise: the channel's descriptors are gone too.
            let _ = domain::run(program, template, (there, Trust::SameProgram), &options, capacity);
        };
        let name = format!("worker:{worker}");
        thread::Builder::new().name(name.clone()).spawn(run)?;
        Remote::new(&name, template, (here, Trust::SameProgram), Thread, &self.reactor, capacity)
    }
}

impl ResourceManager for Workers {
    fn create(
        &mut self,
        template: &'static Template,
        name: Name<'_>,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Domain>, String> {
        let worker = name.rest().parse().map_err(|_| "a worker is a number, as in \"worker:1\"")?;
        if let Some(factory) = hints.factories.iter().find(|factory| factory.name != "Worker") {
            return Err(format!("{} can do nothing for a worker of this program", factory.name));
        }
        Ok(Box::new(self.make(template, worker, domain::capacity(hints)?).map_err(|error| reason(&error))?))
    }
}

/// Where a thread runs the component: it ends when the channel says so.
struct Thread;

impl Place for Thread {
    fn watch(&mut self, _: &Rc<Link>) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self) {}
}
