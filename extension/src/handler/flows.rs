//! Flows: which handler runs for a message. A flow is a filter with a handler, and has an owner. Each owner has a share
//! of the machine's time. Messages beyond it are processed lazily, when the process that they are for is scheduled, so
//! that no owner can monopolise the machine (*ASHs*, section VI.4).

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Deref;

use super::frame::Frame;
use super::run::{Ended, Handler, Verdict};
use crate::demux::{self, Demultiplexer, Filter, NoCode};
#[cfg(all(unix, target_arch = "x86_64"))]
use crate::engine::jit::Pages;

/// An owner of flows, as the host numbers it.
pub type OwnerId = u64;

/// The number of a flow. Numbers of detached flows are reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId(usize);

/// The share of an owner: how much its handlers may run.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Runs in each window. A long run counts as several ([`Share::ROUNDS`]).
    pub runs: u64,
    /// The window, in nanoseconds.
    pub window: u64,
}

impl Share {
    /// Rounds of loops that count as one more run.
    pub const ROUNDS: u64 = 64;
}

impl Default for Share {
    /// Ten thousand runs in ten milliseconds.
    fn default() -> Share {
        Share { runs: 10_000, window: 10_000_000 }
    }
}

/// Statistics of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Runs of the handler.
    pub runs: u64,
    /// Messages that the handler consumed, including those that it answered.
    pub consumed: u64,
    /// Messages that it transmitted.
    pub transmitted: u64,
    /// Messages that it passed on.
    pub passed: u64,
    /// Runs that were stopped.
    pub stopped: u64,
    /// Messages that were left for later, because the owner's share was used up.
    pub lazily: u64,
    /// Messages that it sent.
    pub sent: u64,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It belongs to no flow.
    Nobodys,
    /// Its flow's owner has used up its share: it is to be processed lazily.
    Lazily(FlowId),
    /// The flow's handler has run.
    Ran(FlowId, Ended),
}

impl Outcome {
    /// What the device does with the message.
    pub fn verdict(self) -> Verdict {
        match self {
            Outcome::Ran(_, Ended::With(verdict)) => verdict,
            _ => Verdict::Pass,
        }
    }
}

struct Owner {
    share: Share,
    /// When its window began, and how much of its share it has used since.
    since: u64,
    used: u64,
}

impl Owner {
    /// Whether something is left of its share at this time.
    fn may_run(&mut self, now: u64) -> bool {
        if now.wrapping_sub(self.since) >= self.share.window {
            (self.since, self.used) = (now, 0);
        }
        self.used < self.share.runs
    }
}

struct Flow {
    owner: OwnerId,
    filter: demux::Id,
    handler: Handler,
    counts: Counts,
}

/// All flows of a device. `M` is the executable memory of the demultiplexer.
pub struct Flows<M> {
    demultiplexer: Demultiplexer<usize, M>,
    flows: Vec<Option<Flow>>,
    owners: BTreeMap<OwnerId, Owner>,
    share: Share,
}

#[cfg(all(unix, target_arch = "x86_64"))]
impl Flows<Pages> {
    /// No flows. `seed` should be unpredictable; `share` is what owners have by default.
    pub fn compiled(seed: u64, share: Share) -> Self {
        Flows::with(Demultiplexer::compiled(seed), share)
    }
}

impl Flows<NoCode> {
    /// The same, with a demultiplexer that isn't compiled.
    pub fn walking(seed: u64, share: Share) -> Self {
        Flows::with(Demultiplexer::walking(seed), share)
    }
}

impl<M: Deref<Target = [u8]>> Flows<M> {
    fn with(demultiplexer: Demultiplexer<usize, M>, share: Share) -> Self {
        Flows { demultiplexer, flows: Vec::new(), owners: BTreeMap::new(), share }
    }

    /// Changes the share of an owner.
    pub fn share(&mut self, owner: OwnerId, share: Share) {
        self.owner(owner).share = share;
    }

    fn owner(&mut self, owner: OwnerId) -> &mut Owner {
        let share = self.share;
        self.owners.entry(owner).or_insert(Owner { share, since: 0, used: 0 })
    }

    /// Attaches a handler: it runs for the messages of this filter, unless a filter of higher rank wants them.
    ///
    /// # Errors
    /// Why the filter is refused, in words for people.
    pub fn attach(
        &mut self,
        owner: OwnerId,
        filter: impl Into<Filter>,
        handler: Handler,
    ) -> Result<FlowId, String> {
        let free = self.flows.iter().position(Option::is_none);
        let number = free.unwrap_or(self.flows.len());
        let filter = self.demultiplexer.insert(filter, number)?;
        let flow = Flow { owner, filter, handler, counts: Counts::default() };
        self.owner(owner);
        match free {
            Some(number) => self.flows[number] = Some(flow),
            None => self.flows.push(Some(flow)),
        }
        Ok(FlowId(number))
    }

    /// Replaces the handler of a flow. Returns the former one.
    pub fn replace(&mut self, FlowId(flow): FlowId, handler: Handler) -> Option<Handler> {
        let flow = self.flows.get_mut(flow)?.as_mut()?;
        Some(core::mem::replace(&mut flow.handler, handler))
    }

    /// Detaches a flow. Returns its handler.
    pub fn detach(&mut self, FlowId(flow): FlowId) -> Option<Handler> {
        let flow = self.flows.get_mut(flow)?.take()?;
        self.demultiplexer.remove(flow.filter);
        Some(flow.handler)
    }

    /// Removes an owner with all its flows.
    pub fn dismiss(&mut self, owner: OwnerId) {
        self.owners.remove(&owner);
        let its: Vec<FlowId> = self.all().filter(|(_, it)| *it == owner).map(|(flow, _)| flow).collect();
        its.into_iter().for_each(|flow| drop(self.detach(flow)));
    }

    /// All flows, with their owners.
    pub fn all(&self) -> impl Iterator<Item = (FlowId, OwnerId)> {
        let flows = self.flows.iter().enumerate();
        flows.filter_map(|(number, flow)| Some((FlowId(number), flow.as_ref()?.owner)))
    }

    /// The statistics of a flow.
    pub fn counts(&self, FlowId(flow): FlowId) -> Option<Counts> {
        Some(self.flows.get(flow)?.as_ref()?.counts)
    }

    /// A flow's handler, with its tables.
    pub fn handler(&mut self, FlowId(flow): FlowId) -> Option<&mut Handler> {
        Some(&mut self.flows.get_mut(flow)?.as_mut()?.handler)
    }

    /// Runs the handler of a message that has arrived at this interface and queue; `now` is the machine's clock in
    /// nanoseconds. The messages that the handler sends are kept in it until the next run.
    #[inline]
    pub fn arrive(&mut self, frame: &mut Frame<'_>, device: (u32, u32), now: u64) -> Outcome {
        let Some(&number) = self.demultiplexer.classify(frame.bytes()) else { return Outcome::Nobodys };
        let (Some(Some(flow)), id) = (self.flows.get_mut(number), FlowId(number)) else {
            return Outcome::Nobodys;
        };
        let Some(owner) = self.owners.get_mut(&flow.owner) else { return Outcome::Nobodys };
        if !owner.may_run(now) {
            flow.counts.lazily += 1;
            return Outcome::Lazily(id);
        }
        let ended = flow.handler.run(frame, device, now);
        owner.used += 1 + flow.handler.rounds() / Share::ROUNDS;
        flow.counts.add(ended, flow.handler.sent().len());
        Outcome::Ran(id, ended)
    }
}

impl Counts {
    fn add(&mut self, ended: Ended, sent: usize) {
        self.runs += 1;
        self.sent += sent as u64;
        match ended {
            Ended::With(Verdict::Pass) => self.passed += 1,
            Ended::With(verdict) => {
                self.consumed += 1;
                self.transmitted += u64::from(verdict == Verdict::Transmit);
            }
            Ended::Stopped(_) => self.stopped += 1,
        }
    }
}
