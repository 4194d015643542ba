//! The transfer functions of CASE over what arrives, and of SELECT.

use super::communications::server;
use super::state::{Flow, Here};
use crate::ast::Direction;
use crate::conformance::choices::{Choice, How};
use crate::conformance::positions::{Key, Known, Positions, join};
use crate::program::{Alternative, Arrival, Block, Channel, InterfaceId};
use crate::source::Span;

impl Flow<'_> {
    pub(super) fn arrivals(
        &mut self,
        channel: &Channel,
        branches: &[Arrival],
        otherwise: Option<&Block>,
        span: Span,
        here: Known,
    ) -> Here {
        let here = self.channel(channel, here)?;
        let (side, key) = (self.side(channel), self.key(channel));
        let end = (channel.interface, side.receives);
        let before = key.and_then(|key| here.get(key)).cloned().unwrap_or_else(|| side.anywhere());
        self.spend(before.open.len())?;
        if before.is_judged() {
            let how = if otherwise.is_some() { How::CaseElse } else { How::Case };
            let choice = Choice::new(channel.interface, side, branches, how, before.clone());
            self.sites.choose(span.word("CASE"), choice);
        }
        if key.is_some() {
            self.uses.reach(end, server(channel), &before, span);
        }
        // Whoever writes ELSE has thought of the other messages.
        for message in (0..side.interface.messages.len()).filter(|_| otherwise.is_some()) {
            self.uses.name(end, side, &before, message, span);
        }
        // What the branches lack, or have too much, is an error of its own.
        self.trace.survives = true;
        let is_taken = |message: usize| branches.iter().any(|branch| branch.message == Some(message));
        let mut after = None;
        for branch in branches {
            after = join(after, self.arrival(channel, branch, &before, &here));
        }
        if let Some(block) = otherwise {
            let has_finish = branches.iter().any(|branch| branch.message.is_none());
            let rest = match has_finish {
                true => side.there(&before, |message| !is_taken(message)),
                false => side.other(&before, is_taken),
            };
            let there = key.map_or(Some(here.clone()), |key| with(&here, key, rest));
            after = join(after, there.and_then(|there| self.block(block, there)));
        }
        after
    }

    /// A branch for something that comes where the communication is in these positions.
    fn arrival(&mut self, channel: &Channel, branch: &Arrival, before: &Positions, here: &Known) -> Here {
        let (side, key) = (self.side(channel), self.key(channel));
        let end = (channel.interface, side.receives);
        let positions = match branch.message {
            Some(message) => {
                self.uses.name(end, side, before, message, branch.span);
                side.receive(&side.there(before, |it| it == message), message)
            }
            None => side.closed(before),
        };
        if key.is_some() {
            self.uses.reach(end, server(channel), &positions, branch.span);
        }
        let there = key.map_or(Some(here.clone()), |key| with(here, key, positions))?;
        let there = self.brought(&branch.targets, there)?;
        self.block(&branch.block, there)
    }

    /// In each branch, only its own communication has moved on.
    pub(super) fn select(&mut self, alternatives: &[Alternative], mut here: Known) -> Here {
        for alternative in alternatives {
            here = match alternative {
                Alternative::Arrival(channel, _) => self.channel(channel, here)?,
                Alternative::Await(condition, _) => self.value(condition, here)?,
                Alternative::After(limit, _) => self.value(limit, here)?,
            };
        }
        if alternatives.iter().any(|it| matches!(it, Alternative::Await(..))) {
            here = self.without_shared(here);
        }
        self.trace.survives = true;
        let mut judged: Vec<Whose> = Vec::new();
        let mut after = None;
        for alternative in alternatives {
            let Alternative::Arrival(channel, branch) = alternative else {
                after = join(after, self.block(alternative.block(), here.clone()));
                continue;
            };
            let (side, key) = (self.side(channel), self.key(channel));
            let before = key.and_then(|key| here.get(key)).cloned().unwrap_or_else(|| side.anywhere());
            self.spend(before.open.len())?;
            let whose = self.whose(channel);
            if !judged.contains(&whose) {
                let branches = alternatives.iter().filter_map(|it| match it {
                    Alternative::Arrival(other, arrival) if self.whose(other) == whose => Some(arrival),
                    _ => None,
                });
                if before.is_judged() {
                    let choice = Choice::new(channel.interface, side, branches, How::Select, before.clone());
                    self.sites.choose(branch.span, choice);
                }
                if key.is_some() {
                    let end = (channel.interface, side.receives);
                    self.uses.reach(end, server(channel), &before, branch.span);
                }
                judged.push(whose);
            }
            after = join(after, self.arrival(channel, branch, &before, &here));
        }
        after
    }

    /// Which branches of a SELECT are judged together: those of one communication; where it isn't followed, those by
    /// one interface.
    fn whose(&self, channel: &Channel) -> Whose {
        match self.key(channel) {
            Some(key) => Whose::Of(key),
            None => Whose::By(channel.interface, self.side(channel).receives),
        }
    }
}

/// See [`Flow::whose`].
#[derive(PartialEq)]
enum Whose {
    Of(Key),
    By(InterfaceId, Direction),
}

/// The situation with the communication in these positions, if they are possible.
fn with(here: &Known, key: Key, positions: Positions) -> Here {
    let positions = positions.or_none()?;
    let mut here = here.clone();
    here.set(key, positions);
    Some(here)
}
