//! Whose handler runs for what arrives. A flow is a filter with a handler; it has an owner, who has a share of the
//! machine: what arrives beyond it is processed lazily, by whoever it is for when that has its turn, so that nobody can
//! flood the machine with handlers (paper 003, section VI.4).

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

/// A flow. Numbers of flows that were detached are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId(usize);

/// What handlers of one owner may have.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Runs in each window of time; a long run counts as several ([`Share::ROUNDS`]).
    pub runs: u64,
    /// The window, in nanoseconds.
    pub window: u64,
}

impl Share {
    /// So many rounds of loops count as one run more.
    pub const ROUNDS: u64 = 64;
}

impl Default for Share {
    /// Ten thousand runs in ten milliseconds.
    fn default() -> Share {
        Share { runs: 10_000, window: 10_000_000 }
    }
}

/// What became of the messages of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Runs of the handler.
    pub runs: u64,
    /// Messages that it consumed: those that it answered, too.
    pub consumed: u64,
    /// That it transmitted.
    pub transmitted: u64,
    /// That it passed on.
    pub passed: u64,
    /// Runs that were stopped.
    pub stopped: u64,
    /// Messages for which it didn't run, because its owner's share was used up.
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
    /// What is to be done with the message.
    pub fn verdict(self) -> Verdict {
        match self {
            Outcome::Ran(_, Ended::With(verdict)) => verdict,
            _ => Verdict::Pass,
        }
    }
}

struct Owner {
    share: Share,
    /// When its window has begun, and what it has used since.
    since: u64,
    used: u64,
}

impl Owner {
    /// Whether there is something left of its share now.
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

/// See the head of this file. `M` is the memory of the demultiplexer's code.
pub struct Flows<M> {
    demultiplexer: Demultiplexer<usize, M>,
    flows: Vec<Option<Flow>>,
    owners: BTreeMap<OwnerId, Owner>,
    share: Share,
}

#[cfg(all(unix, target_arch = "x86_64"))]
impl Flows<Pages> {
    /// No flows yet. The seed should be a number that nobody can guess; owners have such a share, if it isn't said
    /// otherwise.
    pub fn compiled(seed: u64, share: Share) -> Self {
        Flows::with(Demultiplexer::compiled(seed), share)
    }
}

impl Flows<NoCode> {
    /// The same without a compiler.
    pub fn walking(seed: u64, share: Share) -> Self {
        Flows::with(Demultiplexer::walking(seed), share)
    }
}

impl<M: Deref<Target = [u8]>> Flows<M> {
    fn with(demultiplexer: Demultiplexer<usize, M>, share: Share) -> Self {
        Flows { demultiplexer, flows: Vec::new(), owners: BTreeMap::new(), share }
    }

    /// Gives an owner another share.
    pub fn share(&mut self, owner: OwnerId, share: Share) {
        self.owner(owner).share = share;
    }

    fn owner(&mut self, owner: OwnerId) -> &mut Owner {
        let share = self.share;
        self.owners.entry(owner).or_insert(Owner { share, since: 0, used: 0 })
    }

    /// From now on the handler runs for what the filter wants, unless another one wins.
    ///
    /// # Errors
    /// The filter can't be; for people.
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

    /// Another handler runs for this flow from the next message on; gives the one before.
    pub fn replace(&mut self, FlowId(flow): FlowId, handler: Handler) -> Option<Handler> {
        let flow = self.flows.get_mut(flow)?.as_mut()?;
        Some(core::mem::replace(&mut flow.handler, handler))
    }

    /// The flow is none any more; gives its handler.
    pub fn detach(&mut self, FlowId(flow): FlowId) -> Option<Handler> {
        let flow = self.flows.get_mut(flow)?.take()?;
        self.demultiplexer.remove(flow.filter);
        Some(flow.handler)
    }

    /// An owner has gone, and all its flows with it.
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

    /// What became of a flow's messages so far.
    pub fn counts(&self, FlowId(flow): FlowId) -> Option<Counts> {
        Some(self.flows.get(flow)?.as_ref()?.counts)
    }

    /// A flow's handler, with its tables.
    pub fn handler(&mut self, FlowId(flow): FlowId) -> Option<&mut Handler> {
        Some(&mut self.flows.get_mut(flow)?.as_mut()?.handler)
    }

    /// A message has arrived at a device's queue, at a time of the machine's clock in nanoseconds: its handler runs.
    /// What that sends is in the handler, until the next message.
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
