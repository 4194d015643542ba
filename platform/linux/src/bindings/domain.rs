//! A component of a program in another domain: what a process and a thread have in common.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::rc::Rc;
use std::time::Instant;

use drystone_component::{Program, Template};
use drystone_kortex::domain::{self, Home, Link, Party, Trust};
use drystone_kortex::peer::Composites;

use super::channel::Offer;
use crate::Options;
use crate::platform::{Linux, Output};
use drystone_reactor::Reactor;

/// What makes domains for a program.
#[derive(Clone)]
pub(super) struct Holder {
    pub(super) program: &'static Program,
    pub(super) options: Options,
    pub(super) reactor: Rc<Reactor>,
    composites: Rc<dyn Composites>,
}

impl Holder {
    pub(super) fn new(
        program: &'static Program,
        options: &Options,
        reactor: &Rc<Reactor>,
        composites: &Rc<dyn Composites>,
    ) -> Holder {
        Holder { program, options: options.clone(), reactor: reactor.clone(), composites: composites.clone() }
    }

    /// This end of the channel to one, where so many messages of a communication may be on their way.
    pub(super) fn link(
        &self,
        name: &str,
        (offer, trust): (Offer, Trust),
        capacity: u32,
    ) -> io::Result<Rc<Link>> {
        let end = offer.open(trust, &self.reactor)?;
        let home: Rc<dyn Home> = self.reactor.clone();
        Ok(Link::new(name, (Party::Holder, end), &home, Some(self.composites.clone()), capacity))
    }
}

/// Runs a component of a program, which is at the other end of the channel with the same capacity, until it is deleted;
/// the exit status.
pub(crate) fn run(
    program: &'static Program,
    template: &'static Template,
    (offer, trust): (Offer, Trust),
    options: &Options,
    capacity: u32,
) -> io::Result<i32> {
    // Its program is the one that people look at.
    let options = &Options { control: None, ..options.clone() };
    let mut platform =
        Linux::new(Instant::now(), Output::Standard, program, options).map_err(io::Error::other)?;
    let home: Rc<dyn Home> = platform.reactor.clone();
    let composites = Some(platform.composites().clone());
    let end = offer.open(trust, &platform.reactor)?;
    let link = Link::new("the program", (Party::Guest, end), &home, composites, capacity);
    let runtime_options = drystone_runtime::Options {
        cores: options.cores.max(1),
        memory_limit: if options.memory == 0 { usize::MAX } else { options.memory },
        seed: options.seed.unwrap_or_else(|| RandomState::new().hash_one(0)),
        system: &mut |_, _| None,
    };
    let status = domain::run(program, template, &link, &mut platform, runtime_options);
    platform.end();
    Ok(status as i32)
}
