//! Calls one by one, as a client makes them that ships nothing: over a communication with what is exported by a name.

use drystone_component::wire::{Description, Handle};
use drystone_component::{Interface, Message, Parameter, Protocol, Side, Str, Table};

use crate::Error;
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

    /// Sends a message, by its number and with its values in the bytes of docs/src/wire.md, and waits for the next one: its number
    /// and the bytes of its values.
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

/// What connections know an interface by, which stays for ever.
fn interface(description: &Description) -> Interface {
    let (count, states) = (description.messages(), description.states() as u16);
    let mut next = vec![Interface::NONE; usize::from(states) * count];
    let mut bits = Vec::new();
    for state in 0..states {
        let mut flags = if description.may_end(state) { Interface::MAY_END } else { 0 };
        for (message, to) in description.transitions(state) {
            next[usize::from(state) * count + message] = to;
            flags |= match description.message(message).0 {
                Side::Client => Interface::CLIENT_SENDS,
                Side::Server => Interface::SERVER_SENDS,
            };
        }
        bits.push(flags);
    }
    let described = description.described();
    Interface {
        name: text(description.name()),
        fingerprint: description.fingerprint(),
        payload_words: described.iter().map(|message| message.parameters.len()).max().unwrap_or(0),
        messages: table(described.iter().map(|message| Message {
            name: text(&message.name),
            sender: message.sender,
            parameters: table(
                message.parameters.iter().map(|(name, ty)| Parameter { name: text(name), ty: *ty }),
            ),
            marshalling: None,
        })),
        next: table(next),
        states: table(bits),
    }
}

fn text(text: &str) -> Str {
    Str::new(text.to_string().leak())
}

fn table<T>(entries: impl IntoIterator<Item = T>) -> Table<T> {
    Table::new(entries.into_iter().collect::<Vec<T>>().leak())
}
