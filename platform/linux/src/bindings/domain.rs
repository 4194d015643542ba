//! A component of a program in another domain: the parts that processes and threads share.

use std::io;
use std::rc::Rc;

use drystone_component::{Program, Template};
use drystone_kortex::domain::{Home, Link, Party, Trust};
use drystone_kortex::peer::Composites;

use super::channel::Offer;
use crate::Options;
use drystone_reactor::Reactor;

/// Runs a component until it is deleted, and returns the exit status. Its program is at the other end of the channel,
/// with the same capacity.
pub(crate) type Run =
    fn(&'static Program, &'static Template, (Offer, Trust), &Options, capacity: u32) -> io::Result<i32>;

/// Makes domains for a program.
#[derive(Clone)]
pub(super) struct Holder {
    pub(super) program: &'static Program,
    pub(super) options: Options,
    pub(super) reactor: Rc<Reactor>,
    /// Runs a component in its domain.
    pub(super) run: Run,
    composites: Rc<dyn Composites>,
}

impl Holder {
    pub(super) fn new(
        program: &'static Program,
        options: &Options,
        reactor: &Rc<Reactor>,
        composites: &Rc<dyn Composites>,
        run: Run,
    ) -> Holder {
        let (options, reactor, composites) = (options.clone(), reactor.clone(), composites.clone());
        Holder { program, options, reactor, run, composites }
    }

    /// The holder's end of a channel. `capacity` is the most messages of a communication that may be on their way.
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
