//! The positions of communications: sets of protocol states in which a communication may be, and how sends, receives
//! and tests change them. Knows nothing of statements.

use crate::ast::Direction;
use crate::program::{Interface, InterfaceId, Pattern, VariableId};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A communication that is followed. Those of elements of collections and of indexed interfaces are not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// That of a service with its client.
    Service,
    /// That over a required interface: index into the component's `requires`.
    Required(usize),
    /// That with the component which a variable holds, over one of its interfaces.
    Held(VariableId, InterfaceId),
}

/// The positions of one communication, as this side sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Positions {
    /// The states in which it may be while both sides are there.
    pub open: BTreeSet<usize>,
    /// The other side may have closed.
    pub closed: bool,
    /// A service's client may be lost. Then nothing that the service does is wrong.
    pub lost: bool,
    /// States in which a message for this side is there, as tests have told. Only CASE asks for that.
    pub present: BTreeSet<usize>,
    /// The other side may have closed, as far as tests have told. Only CASE asks for that.
    pub over: bool,
    /// Messages that don't come next although a state allows them: the states with the messages.
    pub ruled_out: BTreeSet<(usize, usize)>,
    /// Nothing was known before, so the communication is in some of these states, and perhaps in others never.
    pub guessed: bool,
}

impl Positions {
    /// A communication that has not begun.
    pub fn start() -> Self {
        Positions { open: [0].into(), ..Positions::default() }
    }

    /// The communication of a service in its FINALLY: no messages are exchanged any more.
    pub fn over() -> Self {
        Positions { closed: true, over: true, ..Positions::default() }
    }

    /// In these states, after those before.
    fn among(before: &Positions, open: BTreeSet<usize>) -> Self {
        let guessed = before.guessed && open.len() > 1;
        Positions { open, guessed, ..Positions::default() }
    }

    /// Whether it isn't in that state with that message next.
    fn rules_out(&self, (state, message): (usize, usize)) -> bool {
        !self.open.contains(&state) || self.ruled_out.contains(&(state, message))
    }

    /// Whether it isn't in that state without a message for this side.
    fn has_message(&self, state: usize) -> bool {
        !self.open.contains(&state) || self.present.contains(&state)
    }

    /// Whether a message for this side is there in any case.
    fn is_present(&self) -> bool {
        !self.over && self.open.is_subset(&self.present)
    }

    /// Possible at all.
    pub fn or_none(self) -> Option<Self> {
        (self.lost || self.is_judged()).then_some(self)
    }

    /// Possible while the other side is not lost.
    pub fn is_judged(&self) -> bool {
        self.closed || !self.open.is_empty()
    }

    /// The positions that are possible in either.
    pub fn union(&self, other: &Self) -> Self {
        let both = self.ruled_out.union(&other.ruled_out).copied();
        let present = self.present.union(&other.present).copied();
        Positions {
            open: &self.open | &other.open,
            closed: self.closed || other.closed,
            over: self.over || other.over,
            lost: self.lost || other.lost,
            present: present.filter(|&state| self.has_message(state) && other.has_message(state)).collect(),
            ruled_out: both.filter(|&it| self.rules_out(it) && other.rules_out(it)).collect(),
            guessed: self.guessed || other.guessed,
        }
    }
}

/// A protocol as seen from one of its sides.
#[derive(Clone, Copy)]
pub struct Side<'p> {
    /// Whose protocol.
    pub interface: &'p Interface,
    /// The direction of the messages that the other side sends.
    pub receives: Direction,
}

impl<'p> Side<'p> {
    /// Nothing is known: all positions.
    pub fn anywhere(self) -> Positions {
        let lost = self.receives == Direction::In;
        let open = (0..self.interface.states.len()).collect();
        Positions { open, lost, guessed: true, ..Positions::over() }
    }

    /// The positions after a send. A message to the closed other side is dropped. A service with a lost client goes on
    /// behind a send only if it holds the lock.
    pub fn send(self, before: &Positions, message: usize, held: bool) -> Positions {
        let (closed, over, lost) = (before.closed, before.over, before.lost && held);
        self.settle(Positions { closed, over, lost, ..self.step(before, message) })
    }

    /// The positions after a receive.
    pub fn receive(self, before: &Positions, message: usize) -> Positions {
        self.settle(self.step(before, message))
    }

    /// The positions if the other side has closed, and no message is left.
    pub fn closed(self, before: &Positions) -> Positions {
        let closed = match self.receives {
            // A client leaves only where the protocol may end, but may be lost anywhere.
            Direction::In => Positions {
                closed: before.closed
                    || before.open.iter().any(|&state| self.interface.states[state].may_end),
                lost: before.lost || !before.open.is_empty(),
                ..Positions::default()
            },
            // A service may have ended with an error anywhere.
            Direction::Out => Positions::over(),
        };
        let over = match self.receives {
            Direction::In => self.may_close(before),
            Direction::Out => !before.is_present(),
        };
        self.settle(Positions { over, ..closed })
    }

    /// The positions if no message that is `asked` for is there: another one is, or the other side has closed.
    pub fn other(self, before: &Positions, asked: impl Fn(usize) -> bool) -> Positions {
        let another = self.there(before, |message| !asked(message));
        // It isn't what a new communication begins with, either.
        let first = self.transitions(0).filter(|&message| self.comes(message)).map(|message| (0, message));
        another.union(&Positions { ruled_out: first.collect(), ..self.closed(before) })
    }

    /// Whether the client may close, or the other side has closed, as far as tests have told.
    pub fn may_close(self, before: &Positions) -> bool {
        let may_end =
            |&state: &usize| self.interface.states[state].may_end && !before.present.contains(&state);
        before.over || before.open.iter().any(may_end)
    }

    /// The positions if a message is there that is `asked` for.
    pub fn there(self, before: &Positions, asked: impl Fn(usize) -> bool) -> Positions {
        let those = self.narrow(before, |message| self.comes(message) && asked(message));
        let all =
            those.open.iter().flat_map(|&state| self.transitions(state).map(move |message| (state, message)));
        let ruled_out = all.filter(|&(state, message)| before.rules_out((state, message)) || !asked(message));
        let ruled_out = ruled_out.collect();
        self.settle(Positions { present: those.open.clone(), ruled_out, ..those })
    }

    /// Whether the other side sends a message.
    fn comes(self, message: usize) -> bool {
        self.interface.messages[message].direction == self.receives
    }

    /// The messages that may come in a state that is one of these positions.
    pub fn coming(self, before: &Positions, state: usize) -> impl Iterator<Item = usize> {
        self.transitions(state)
            .filter(move |&message| self.comes(message) && !before.ruled_out.contains(&(state, message)))
    }

    /// The messages that lead on from a state.
    fn transitions(self, state: usize) -> impl Iterator<Item = usize> + use<'p> {
        self.interface.states[state].transitions.iter().map(|&(message, _)| message)
    }

    /// The positions if a waiting test is TRUE, and if it is FALSE.
    pub fn test(self, before: &Positions, pattern: Pattern) -> (Positions, Positions) {
        let closed = self.closed(before);
        let comes = |message: usize| self.comes(message);
        // At this side's own turn, a test waits for the other side to close. To assume that it may be
        // answered does no harm.
        let own_turn = self.narrow(before, |message| !comes(message));
        let (yes, no) = match pattern {
            Pattern::Message(asked) => (
                self.there(before, |message| message == asked),
                self.other(before, |message| message == asked),
            ),
            Pattern::Any => (self.there(before, |_| true), closed),
            Pattern::Finish => (closed, self.there(before, |_| true)),
        };
        (self.settle(yes), self.settle(no.union(&own_turn)))
    }

    /// Likewise for a test that doesn't wait; its FALSE says nothing.
    pub fn input(self, before: &Positions, pattern: Pattern) -> (Positions, Positions) {
        (self.test(before, pattern).0, before.clone())
    }

    /// The states from which such a message leads on.
    fn narrow(self, before: &Positions, is_such: impl Fn(usize) -> bool) -> Positions {
        let transitions = |state: &usize| &self.interface.states[*state].transitions;
        let leads_on = |state: &usize| transitions(state).iter().any(|&(message, _)| is_such(message));
        Positions::among(before, before.open.iter().copied().filter(leads_on).collect())
    }

    fn step(self, before: &Positions, message: usize) -> Positions {
        let next = |state: &usize| {
            let transitions = &self.interface.states[*state].transitions;
            transitions.iter().find(|&&(label, _)| label == message).map(|&(_, next)| next)
        };
        Positions::among(before, before.open.iter().filter_map(next).collect())
    }

    /// For a client, a communication that has ended or may end can also begin anew.
    fn settle(self, mut positions: Positions) -> Positions {
        if self.may_begin_anew(&positions) {
            positions.open.insert(0);
        }
        positions
    }

    /// Whether this side is a client whose communication may have ended, or may end.
    pub fn may_begin_anew(self, positions: &Positions) -> bool {
        let may_end = |&state: &usize| self.interface.states[state].may_end;
        self.receives == Direction::Out && (positions.closed || positions.open.iter().any(may_end))
    }
}

/// The positions of all communications at a point of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Known(BTreeMap<Key, Rc<Positions>>);

impl Known {
    /// The positions of a communication. `None` if nothing is known, so that it may be anywhere.
    pub fn get(&self, key: Key) -> Option<&Positions> {
        self.0.get(&key).map(|positions| &**positions)
    }

    /// All communications of which something is known.
    pub fn iter(&self) -> impl Iterator<Item = (Key, &Positions)> {
        self.0.iter().map(|(&key, positions)| (key, &**positions))
    }

    /// Sets the positions of a communication.
    pub fn set(&mut self, key: Key, positions: Positions) {
        self.0.insert(key, Rc::new(positions));
    }

    /// Forgets all communications but those that `keep` accepts.
    pub fn retain(&mut self, keep: impl Fn(Key) -> bool) {
        self.0.retain(|&key, _| keep(key));
    }

    /// Moves what is known of the component in a variable to another variable.
    pub fn moved(&mut self, from: VariableId, to: VariableId) {
        let moved: Vec<_> =
            self.0.extract_if(.., |key, _| matches!(key, Key::Held(id, _) if *id == from)).collect();
        for (key, positions) in moved {
            if let Key::Held(_, interface) = key {
                self.0.insert(Key::Held(to, interface), positions);
            }
        }
    }

    /// The positions that are possible on either path.
    pub fn join(mut self, other: &Known) -> Known {
        self.0.retain(|key, _| other.0.contains_key(key));
        for (key, positions) in &mut self.0 {
            let others = &other.0[key];
            if !Rc::ptr_eq(positions, others) && positions != others {
                *positions = Rc::new(positions.union(others));
            }
        }
        self
    }

    /// A measure of the work to visit all of it.
    pub fn size(&self) -> usize {
        self.0.values().map(|positions| 1 + positions.open.len()).sum()
    }
}

/// The positions that are possible on either path, where a path may be impossible.
pub fn join(one: Option<Known>, other: Option<Known>) -> Option<Known> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.join(&other)),
        (one, other) => one.or(other),
    }
}
