//! CASE over what arrives, and SELECT: whether its branches are for exactly the messages that may come there.
//!
//! The state of some communications isn't known, for example of those with elements of collections. There, each branch
//! has to fit a state of the protocol: its message may come in that state, and all other messages that may come in it
//! have branches, too.

use super::positions::{Positions, Side};
use super::wording::{allowed, describe, one_of};
use crate::ast::Direction;
use crate::program::{Arrival, InterfaceId, Program};
use crate::source::{Diagnostic, Span};
use std::collections::{BTreeMap, BTreeSet};

/// How it chooses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// By CASE.
    Case,
    /// By CASE with ELSE.
    CaseElse,
    /// By those branches of SELECT that are for this communication.
    Select,
}

/// A CASE over what arrives, and the positions in which it is reached.
pub struct Choice {
    interface: InterfaceId,
    receives: Direction,
    /// The messages that have branches, and where.
    taken: BTreeMap<usize, Span>,
    /// The place of FINISH.
    finish: Option<Span>,
    how: How,
    before: Positions,
}

impl Choice {
    /// One that is reached in these positions.
    pub fn new<'b>(
        interface: InterfaceId,
        side: Side,
        branches: impl IntoIterator<Item = &'b Arrival>,
        how: How,
        before: Positions,
    ) -> Choice {
        let (mut taken, mut finish) = (BTreeMap::new(), None);
        for branch in branches {
            match branch.message {
                Some(message) => _ = taken.insert(message, branch.span),
                None => finish = Some(branch.span),
            }
        }
        Choice { interface, receives: side.receives, taken, finish, how, before }
    }

    /// It is reached in those of another one, too.
    pub fn join(&mut self, other: &Choice) {
        self.before = self.before.union(&other.before);
    }

    /// Its errors.
    pub fn faults(&self, program: &Program, span: Span) -> Vec<Diagnostic> {
        let interface = &program.interfaces[self.interface.index()];
        let side = Side { interface, receives: self.receives };
        let coming = |state: &usize| side.coming(&self.before, *state).collect::<BTreeSet<usize>>();
        let mut states: Vec<BTreeSet<usize>> = self.before.open.iter().map(coming).collect();
        // What a new communication begins with isn't meant where all branches are for other messages.
        if self.before.open.contains(&0)
            && side.may_begin_anew(&self.before)
            && !self.takes_one_of(&states[0])
        {
            states.remove(0);
        }
        let mut faults = Vec::new();
        for (message, place) in &self.taken {
            if !states.iter().any(|state| state.contains(message)) {
                let text = format!(
                    "{} can't come here by the protocol of {}",
                    describe(interface, *message),
                    interface.name
                );
                let here = match self.before.open.is_empty() {
                    true => "here the communication is over".to_string(),
                    false => format!("here the protocol allows {}", allowed(interface, &self.before)),
                };
                let fault = Diagnostic::new("case-message", *place, text).label(here);
                faults.push(fault.help("remove this branch"));
            }
        }
        if self.how != How::CaseElse {
            let missing = self.missing(&states);
            let mut all: Vec<String> = missing.iter().map(|&message| describe(interface, message)).collect();
            let may_close = self.receives == Direction::In && side.may_close(&self.before);
            if may_close && !self.before.guessed && self.finish.is_none() {
                all.push("the end".into());
            }
            if !all.is_empty() {
                let example = match missing.first() {
                    Some(&message) => interface.messages[message].name.as_str(),
                    None => "FINISH",
                };
                let text = format!("{} may come here, and no branch is for that", one_of(all));
                let fault = Diagnostic::new("case-message", span, text);
                faults.push(fault.help(match self.how {
                    How::Select => format!("add a branch for that, `| ..?{example}: ..`"),
                    _ => format!("add a branch, `| {example}: ..`, or ELSE for all else"),
                }));
            }
        } else if self.finish.is_some() && states.iter().all(|state| self.covers(state)) {
            let text = "ELSE is for nothing: whatever may come here has a branch";
            faults.push(Diagnostic::new("case-else", span, text).help("remove ELSE and its statements"));
        }
        if interface.span != Span::default() {
            let note = format!("the protocol of {}", interface.name);
            faults = faults.into_iter().map(|fault| fault.note(interface.span, &note)).collect();
        }
        faults
    }

    fn takes_one_of(&self, state: &BTreeSet<usize>) -> bool {
        state.iter().any(|message| self.taken.contains_key(message))
    }

    fn covers(&self, state: &BTreeSet<usize>) -> bool {
        state.iter().all(|message| self.taken.contains_key(message))
    }

    /// The messages that may come and have no branch.
    fn missing(&self, states: &[BTreeSet<usize>]) -> BTreeSet<usize> {
        let without_branch = |state: &BTreeSet<usize>| {
            state
                .iter()
                .copied()
                .filter(|message| !self.taken.contains_key(message))
                .collect::<BTreeSet<usize>>()
        };
        if !self.before.guessed {
            return states.iter().flat_map(without_branch).collect();
        }
        let fewest = |message: &usize| {
            let those = states.iter().filter(|state| state.contains(message)).map(without_branch);
            those.min_by_key(BTreeSet::len).unwrap_or_default()
        };
        self.taken.keys().flat_map(fewest).collect()
    }
}
