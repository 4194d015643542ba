//! Questions about an interface, whether this program has its description or another program has sent it: its messages,
//! and the state machine that says when each may come.

use crate::interface::{Fingerprint, Interface, Side, Type};

/// An interface, of this program or another one.
pub trait Protocol {
    /// Its name.
    fn name(&self) -> &str;
    /// Identifies it across programs.
    fn fingerprint(&self) -> Fingerprint;
    /// How many messages it has.
    fn messages(&self) -> usize;
    /// Who sends a message, and its name.
    fn message(&self, number: usize) -> (Side, &str);
    /// The types of a message's parameters, in order.
    fn types(&self, number: usize) -> impl Iterator<Item = Type>;
    /// How many states it has; it begins in state 0.
    fn states(&self) -> usize;
    /// Whether the communication may end in a state.
    fn may_end(&self, state: u16) -> bool;
    /// What may come in a state, by ascending number, and the states that follow.
    fn transitions(&self, state: u16) -> impl Iterator<Item = (usize, u16)>;
    /// Where a message leads from a state.
    fn next(&self, state: u16, message: usize) -> Option<u16>;
}

impl Protocol for Interface {
    fn name(&self) -> &str {
        self.name.get()
    }

    fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    fn messages(&self) -> usize {
        self.messages.length
    }

    fn message(&self, number: usize) -> (Side, &str) {
        let message = &self.messages.get()[number];
        (message.sender, message.name.get())
    }

    fn types(&self, number: usize) -> impl Iterator<Item = Type> {
        self.messages.get()[number].types()
    }

    fn states(&self) -> usize {
        self.states.length
    }

    fn may_end(&self, state: u16) -> bool {
        self.state(state) & Interface::MAY_END != 0
    }

    fn transitions(&self, state: u16) -> impl Iterator<Item = (usize, u16)> {
        let count = self.messages.length;
        let row = &self.next.get()[state as usize * count..][..count];
        row.iter().copied().enumerate().filter(|(_, to)| *to != Interface::NONE)
    }

    fn next(&self, state: u16, message: usize) -> Option<u16> {
        Interface::next(self, state, message)
    }
}
