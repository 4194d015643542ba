//! Many handlers at one interface in Linux's kernel. What [`drystone_extension::handler::Flows`] does in Drystone's own
//! engine a gate has done there: a program that is made of the filters finds whose a message is, counts a run against
//! its owner's share, and goes on with the handler. Beyond the share, and what nobody wants, is passed on.
//!
//! The program is made anew whenever a filter comes or goes, and takes the place of the one before at once: every
//! message meets one of them.

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

/// A flow of a gate: a filter with a handler. Numbers of flows that were detached are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId(u16);

struct Flow {
    owner: OwnerId,
    filter: demux::Id,
    handler: Arc<Xdp>,
}

struct Owner {
    number: usize,
    /// Of its flows that are none any more.
    before: Counts,
}

/// See the head of this file. When it is dropped, the interface has no handler any more.
pub struct Gate {
    kept: Kept,
    demultiplexer: Demultiplexer<u16, NoCode>,
    flows: BTreeMap<u16, Flow>,
    owners: BTreeMap<OwnerId, Owner>,
    share: Share,
    /// Numbers that are no flows' any more, but the kernel's program still has them, because it took no other one.
    stale: BTreeSet<u16>,
}

impl Gate {
    /// A gate at a network interface, which passes everything on as long as it has no flows. Owners have such a share,
    /// if it isn't said otherwise; of a handler's rounds Linux tells nothing, so each of its runs is one.
    ///
    /// # Errors
    /// There is no such interface, it has a handler already, or it can't have one in this mode; or there is no right
    /// to. For people.
    pub fn open(interface: &str, mode: Mode, share: Share) -> Result<Gate, String> {
        let kept = Kept::open(interface, mode)?;
        // All rows are in the program: nobody can make it slow by keys that collide.
        let demultiplexer = Demultiplexer::walking(0);
        let (flows, owners, stale) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        Ok(Gate { kept, demultiplexer, flows, owners, share, stale })
    }

    /// Gives an owner another share.
    ///
    /// # Errors
    /// There are too many owners.
    pub fn share(&mut self, owner: OwnerId, share: Share) -> Result<(), String> {
        let number = self.owner(owner)?;
        self.kept.ledger.share(number, share);
        Ok(())
    }

    /// From now on the handler runs for what the filter wants, unless another one wins. One handler can be that of
    /// several flows.
    ///
    /// # Errors
    /// The filter can't be, or not in Linux's kernel; there are too many flows, or owners. Then all flows are as
    /// before. For people.
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

    /// Another handler runs for this flow from the next message on; gives the one before, which runs no more.
    ///
    /// # Errors
    /// There is no such flow, or the kernel refuses. For people.
    pub fn replace(&mut self, flow: FlowId, handler: impl Into<Arc<Xdp>>) -> Result<Arc<Xdp>, String> {
        let FlowId(number) = flow;
        let handler = handler.into();
        let flow = self.flows.get_mut(&number).ok_or(NO_FLOW)?;
        self.kept.programs.put(number, handler.program())?;
        let before = std::mem::replace(&mut flow.handler, handler);
        wait_for_runs();
        Ok(before)
    }

    /// The flow is none any more; gives its handler, which runs no more, unless for other flows.
    ///
    /// # Errors
    /// There is no such flow, or the kernel refuses the program for the others: then what was this flow's is passed on.
    /// For people.
    pub fn detach(&mut self, flow: FlowId) -> Result<Arc<Xdp>, String> {
        let FlowId(number) = flow;
        let flow = self.flows.get(&number).ok_or(NO_FLOW)?;
        let handler = flow.handler.clone();
        self.take_out(&[number])?;
        Ok(handler)
    }

    /// An owner has gone, and all its flows with it.
    ///
    /// # Errors
    /// As for [`Gate::detach`].
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

    /// What became of a flow's messages so far.
    pub fn counts(&self, FlowId(flow): FlowId) -> Option<Counts> {
        self.flows.contains_key(&flow).then(|| self.kept.counts(flow))
    }

    /// What became of an owner's messages so far, those of its flows that were detached included.
    pub fn counts_of(&self, owner: OwnerId) -> Option<Counts> {
        let before = self.owners.get(&owner)?.before;
        let its = self.flows.iter().filter(|(_, flow)| flow.owner == owner);
        Some(its.fold(before, |counts, (number, _)| counts + self.kept.counts(*number)))
    }

    /// A flow's handler, with its tables and its region.
    pub fn handler(&self, FlowId(flow): FlowId) -> Option<&Arc<Xdp>> {
        Some(&self.flows.get(&flow)?.handler)
    }

    /// The number of an owner, who is known from now on.
    fn owner(&mut self, id: OwnerId) -> Result<usize, String> {
        if let Some(owner) = self.owners.get(&id) {
            return Ok(owner.number);
        }
        let taken: Vec<usize> = self.owners.values().map(|owner| owner.number).collect();
        let number = (0..OWNERS).find(|number| !taken.contains(number));
        let number = number.ok_or_else(|| format!("a gate has {OWNERS} owners at most"))?;
        self.kept.ledger.admit(number, self.share);
        self.owners.insert(id, Owner { number, before: Counts::default() });
        Ok(number)
    }

    fn free_number(&self) -> Result<u16, String> {
        let is_free = |number: &u16| !self.flows.contains_key(number) && !self.stale.contains(number);
        let number = (1..FLOWS as u16).find(is_free);
        number.ok_or_else(|| format!("a gate has {} flows at most", FLOWS - 1))
    }

    /// All that the gate's program needs for a flow is there before it leads to it.
    fn prepare(&mut self, number: u16, owner: OwnerId, handler: &Xdp) -> Result<(), String> {
        let owner = self.owner(owner)?;
        self.kept.begin(number, owner, handler.program())
    }

    /// A program for the filters that there are now takes the place of the one before.
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

const NO_FLOW: &str = "the gate has no such flow";

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gate of {} flows", self.flows.len())
    }
}
