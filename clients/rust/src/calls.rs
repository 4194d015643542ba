//! Single calls, without shipping: a communication with an exported name, one message at a time.

use drystone_component::wire::{Described, Description, Handle};
use drystone_component::{Interface, Message, Parameter, Protocol, Str, Table};

use crate::error::Error;
use crate::line::Line;

/// A communication.
pub struct Calls<'a> {
    line: &'a mut Line,
    handle: Handle,
}

impl<'a> Calls<'a> {
    pub(crate) fn begin(line: &'a mut Line, name: &str) -> Result<Calls<'a>, Error> {
        let description = line.describe(name)?;
        let handle = line.open(name.as_bytes(), interface(&description))?;
        Ok(Calls { line, handle })
    }

    /// Sends a message, by its number and with its values in the bytes of docs/src/wire.md, and waits for the next one:
    /// its number and the bytes of its values.
    ///
    /// # Errors
    /// The protocol doesn't allow it, or the connection is lost.
    pub fn call(
        &mut self,
        message: usize,
        values: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(usize, Vec<u8>), Error> {
        self.line.ask(self.handle, message, values)
    }
}

impl Drop for Calls<'_> {
    fn drop(&mut self) {
        self.line.abandon(self.handle);
    }
}

/// The interface by which connections know it; it is leaked, because they need it for ever.
fn interface(description: &Description) -> Interface {
    let messages: Vec<Message> = description.described().iter().map(message).collect();
    let states = (0..description.states() as u16)
        .map(|state| (description.may_end(state), description.transitions(state)));
    let (next, states) = Interface::automaton(&messages, states);
    Interface {
        name: Str::new(kept(description.name())),
        fingerprint: description.fingerprint(),
        payload_words: messages.iter().map(|message| message.parameters.length).max().unwrap_or(0),
        messages: Table::new(messages.leak()),
        next: Table::new(next.leak()),
        states: Table::new(states.leak()),
    }
}

fn message(message: &Described) -> Message {
    let parameters = message.parameters.iter().map(|(name, ty)| Parameter::new(kept(name), *ty));
    Message::new(kept(&message.name), message.sender, parameters.collect::<Vec<_>>().leak())
}

fn kept(text: &str) -> &'static str {
    text.to_string().leak()
}
