//! The transfer function of CASE over what arrives.

use super::communications::server;
use super::state::{Flow, Here};
use crate::conformance::choices::Choice;
use crate::conformance::positions::{Key, Known, Positions, join};
use crate::program::{Arrival, Block, Channel};
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
            let choice = Choice::new(channel.interface, side, branches, otherwise.is_some(), before.clone());
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
            let positions = match branch.message {
                Some(message) => {
                    self.uses.name(end, side, &before, message, branch.span);
                    side.receive(&side.there(&before, |it| it == message), message)
                }
                None => side.closed(&before),
            };
            if key.is_some() {
                self.uses.reach(end, server(channel), &positions, branch.span);
            }
            let Some(there) = key.map_or(Some(here.clone()), |key| with(&here, key, positions)) else {
                continue;
            };
            let there = self.brought(&branch.targets, there);
            after = join(after, there.and_then(|there| self.block(&branch.block, there)));
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
}

/// The situation with the communication in these positions, if they are possible.
fn with(here: &Known, key: Key, positions: Positions) -> Here {
    let positions = positions.or_none()?;
    let mut here = here.clone();
    here.set(key, positions);
    Some(here)
}
