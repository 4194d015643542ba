//! Dispatchers: many handlers at one interface in Linux's kernel. A dispatcher does there what
//! [`drystone_extension::handler::Flows`] do in Drystone's own engine: a program that is compiled from the filters
//! finds the flow of a message, counts the run against the owner's share, and jumps to the handler. Messages beyond the
//! share, and those that no flow wants, are passed on.
//!
//! The program is compiled anew whenever a flow is attached or detached, and replaces the former one atomically.

mod kept;
mod ledger;
mod program;
mod programs;
mod runs;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use drystone_extension::demux::{self, Demultiplexer, Filter, NoCode};
use drystone_extension::handler::{OwnerId, Share};

use crate::xdp::{Mode, Xdp};
pub(crate) use kept::Kept;
pub use ledger::Counts;
use ledger::{FLOWS, OWNERS};
use runs::wait_for_runs;

/// The number of a flow of a dispatcher. Numbers of detached flows are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId(u16);

struct Flow {
    owner: OwnerId,
    filter: demux::Id,
    handler: Arc<Xdp>,
}

struct Owner {
    number: usize,
    /// Statistics of its detached flows.
    before: Counts,
}

/// A dispatcher at an interface, from which it is detached when this is dropped.
pub struct Dispatcher {
    kept: Kept,
    demultiplexer: Demultiplexer<u16, NoCode>,
    flows: BTreeMap<u16, Flow>,
    owners: BTreeMap<OwnerId, Owner>,
    share: Share,
    /// Numbers of detached flows that the kernel's program still has, because the kernel refused the next program.
    stale: BTreeSet<u16>,
}

impl Dispatcher {
    /// Attaches a dispatcher without flows to a network interface; it passes everything on. `share` is what owners have
    /// by default. Each run counts once, because Linux doesn't report rounds of loops.
    ///
    /// # Errors
    /// The interface doesn't exist, has a handler already, or can't have one in this mode; or permission is missing.
    pub fn open(interface: &str, mode: Mode, share: Share) -> Result<Dispatcher, String> {
        let kept = Kept::open(interface, mode)?;
        // All rows are in the program: nobody can make it slow by keys that collide.
        let demultiplexer = Demultiplexer::walking(0);
        let (flows, owners, stale) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        Ok(Dispatcher { kept, demultiplexer, flows, owners, share, stale })
    }

    /// Sets the share of an owner.
    ///
    /// # Errors
    /// There are too many owners.
    pub fn share(&mut self, owner: OwnerId, share: Share) -> Result<(), String> {
        let number = self.owner(owner)?;
        self.kept.ledger.share(number, share);
        Ok(())
    }

    /// Attaches a handler: it runs for the messages of this filter, unless a filter of higher rank wants them. Several
    /// flows can have the same handler.
    ///
    /// # Errors
    /// The filter is invalid, or can't be compiled for the kernel; or there are too many flows or owners. Nothing has
    /// changed then.
    pub fn attach(
        &mut self,
        owner: OwnerId,
        filter: impl Into<Filter>,
        handler: impl Into<Arc<Xdp>>,
    ) -> Result<FlowId, String> {
        let handler = handler.into();
        let number = self.free_number()?;
        let filter = self.demultiplexer.insert(filter, number)?;
        let prepared = self.prepare(number, owner, &handler).and_then(|()| self.renew());
        if let Err(why) = prepared {
            self.demultiplexer.remove(filter);
            self.kept.forget(number);
            return Err(why);
        }
        self.flows.insert(number, Flow { owner, filter, handler });
        Ok(FlowId(number))
    }

    /// Replaces the handler of a flow. Returns the former one, of which no run is under way any more.
    ///
    /// # Errors
    /// The flow doesn't exist, or the kernel refuses.
    pub fn replace(&mut self, flow: FlowId, handler: impl Into<Arc<Xdp>>) -> Result<Arc<Xdp>, String> {
        let FlowId(number) = flow;
        let handler = handler.into();
        let flow = self.flows.get_mut(&number).ok_or(NO_FLOW)?;
        self.kept.programs.put(number, handler.program())?;
        let before = std::mem::replace(&mut flow.handler, handler);
        wait_for_runs();
        Ok(before)
    }

    /// Detaches a flow. Returns its handler, of which no run for this flow is under way any more.
    ///
    /// # Errors
    /// The flow doesn't exist, or the kernel refuses the program for the remaining flows: then the messages of this one
    /// are passed on.
    pub fn detach(&mut self, flow: FlowId) -> Result<Arc<Xdp>, String> {
        let FlowId(number) = flow;
        let flow = self.flows.get(&number).ok_or(NO_FLOW)?;
        let handler = flow.handler.clone();
        self.take_out(&[number])?;
        Ok(handler)
    }

    /// Removes an owner with all its flows.
    ///
    /// # Errors
    /// As for [`Dispatcher::detach`].
    pub fn dismiss(&mut self, owner: OwnerId) -> Result<(), String> {
        let its: Vec<u16> =
            self.all().filter(|(_, it)| *it == owner).map(|(FlowId(number), _)| number).collect();
        let taken_out = self.take_out(&its);
        self.owners.remove(&owner);
        taken_out
    }

    /// All flows, with their owners.
    pub fn all(&self) -> impl Iterator<Item = (FlowId, OwnerId)> {
        self.flows.iter().map(|(number, flow)| (FlowId(*number), flow.owner))
    }

    /// The statistics of a flow.
    pub fn counts(&self, FlowId(flow): FlowId) -> Option<Counts> {
        self.flows.contains_key(&flow).then(|| self.kept.counts(flow))
    }

    /// The statistics of an owner, including detached flows.
    pub fn counts_of(&self, owner: OwnerId) -> Option<Counts> {
        let before = self.owners.get(&owner)?.before;
        let its = self.flows.iter().filter(|(_, flow)| flow.owner == owner);
        Some(its.fold(before, |counts, (number, _)| counts + self.kept.counts(*number)))
    }

    /// A flow's handler, with its tables and its region.
    pub fn handler(&self, FlowId(flow): FlowId) -> Option<&Arc<Xdp>> {
        Some(&self.flows.get(&flow)?.handler)
    }

    /// The number of an owner, who is added unless known.
    fn owner(&mut self, id: OwnerId) -> Result<usize, String> {
        if let Some(owner) = self.owners.get(&id) {
            return Ok(owner.number);
        }
        let taken: Vec<usize> = self.owners.values().map(|owner| owner.number).collect();
        let number = (0..OWNERS).find(|number| !taken.contains(number));
        let number = number.ok_or_else(|| format!("a dispatcher has {OWNERS} owners at most"))?;
        self.kept.ledger.admit(number, self.share);
        self.owners.insert(id, Owner { number, before: Counts::default() });
        Ok(number)
    }

    fn free_number(&self) -> Result<u16, String> {
        let is_free = |number: &u16| !self.flows.contains_key(number) && !self.stale.contains(number);
        let number = (1..FLOWS as u16).find(is_free);
        number.ok_or_else(|| format!("a dispatcher has {} flows at most", FLOWS - 1))
    }

    /// Prepares a flow, before the dispatcher's program jumps to its handler.
    fn prepare(&mut self, number: u16, owner: OwnerId, handler: &Xdp) -> Result<(), String> {
        let owner = self.owner(owner)?;
        self.kept.begin(number, owner, handler.program())
    }

    /// Compiles the program for the present filters, and replaces the former one.
    fn renew(&self) -> Result<(), String> {
        self.kept.follow(&self.kept.load(&self.demultiplexer.classifier())?)
    }

    fn take_out(&mut self, numbers: &[u16]) -> Result<(), String> {
        for number in numbers {
            self.demultiplexer.remove(self.flows[number].filter);
        }
        self.stale.extend(numbers);
        let renewed = self.renew();
        // Whoever still runs the program before finds nothing there, and passes on.
        numbers.iter().for_each(|number| self.kept.forget(*number));
        wait_for_runs();
        if renewed.is_ok() {
            self.stale.clear();
        }
        for number in numbers {
            let flow = self.flows.remove(number);
            if let Some(owner) = flow.and_then(|flow| self.owners.get_mut(&flow.owner)) {
                owner.before += self.kept.counts(*number);
            }
        }
        renewed
    }
}

const NO_FLOW: &str = "the dispatcher has no such flow";

impl std::fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Dispatcher of {} flows", self.flows.len())
    }
}
