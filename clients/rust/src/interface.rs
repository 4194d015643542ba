//! Interfaces as connections need them, made from what a server says of its names.

use drystone_component::wire::{Described, Description};
use drystone_component::{Interface, Message, Parameter, Protocol, Str, Table};

/// The interface of a description. It is leaked, because connections need it for ever.
pub(crate) fn kept_interface(description: &Description) -> &'static Interface {
    let messages: Vec<Message> = description.described().iter().map(message).collect();
    let states = (0..description.states() as u16)
        .map(|state| (description.may_end(state), description.transitions(state)));
    let (next, states) = Interface::automaton(&messages, states);
    Box::leak(Box::new(Interface {
        name: Str::new(kept(description.name())),
        fingerprint: description.fingerprint(),
        payload_words: messages.iter().map(|message| message.parameters.length).max().unwrap_or(0),
        queued: 0,
        messages: Table::new(messages.leak()),
        next: Table::new(next.leak()),
        states: Table::new(states.leak()),
    }))
}

fn message(message: &Described) -> Message {
    let parameters = message.parameters.iter().map(|(name, ty)| Parameter::new(kept(name), *ty));
    Message::new(kept(&message.name), message.sender, parameters.collect::<Vec<_>>().leak())
}

fn kept(text: &str) -> &'static str {
    text.to_string().leak()
}
