//! How messages to people name the messages of a protocol.

use super::positions::Positions;
use crate::ast::Direction;
use crate::program::Interface;
use std::collections::BTreeSet;

/// The messages that may come next, for a note.
pub fn allowed(interface: &Interface, positions: &Positions) -> String {
    let states = || positions.open.iter().map(|&state| &interface.states[state]);
    let messages: BTreeSet<usize> = states().flat_map(|state| &state.transitions).map(|it| it.0).collect();
    let mut all: Vec<String> = messages.iter().map(|&message| describe(interface, message)).collect();
    if states().any(|state| state.may_end) {
        all.push("the end".into());
    }
    one_of(all)
}

/// Where the protocol allows a message: at the start, or after other messages.
pub fn when(interface: &Interface, message: usize) -> String {
    let comes = |state: usize| interface.states[state].transitions.iter().any(|&(label, _)| label == message);
    let before: BTreeSet<usize> = interface
        .states
        .iter()
        .flat_map(|state| &state.transitions)
        .filter(|&&(_, next)| comes(next))
        .map(|&(label, _)| label)
        .collect();
    let names: Vec<String> = before.iter().map(|&label| describe(interface, label)).collect();
    match (comes(0), names.is_empty()) {
        (true, true) => "at the start".into(),
        (true, false) => format!("at the start or after {}", one_of(names)),
        (false, _) => format!("after {}", one_of(names)),
    }
}

/// A message as an interface declares it.
pub fn describe(interface: &Interface, message: usize) -> String {
    let message = &interface.messages[message];
    match message.direction {
        Direction::In => format!("IN {}", message.name),
        Direction::Out => format!("OUT {}", message.name),
    }
}

/// `a, b or c`, not too many of them.
pub fn one_of(mut all: Vec<String>) -> String {
    const MANY: usize = 6;
    if all.len() > MANY {
        let more = all.len() - (MANY - 1);
        all.truncate(MANY - 1);
        all.push(format!("one of {more} others"));
    }
    match all.split_last() {
        None => "nothing".into(),
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
    }
}
