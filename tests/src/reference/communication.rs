//! One communication: its buffer, and the state of each side in the protocol.
//!
//! All messages of a state go in the same direction. So both sides walk along one sequence of messages, and the buffer
//! holds the messages that the slower side has yet to receive.

use std::collections::VecDeque;

use drystone_language::ast::Direction;
use drystone_language::program::{Interface, InterfaceId, Pattern};
use drystone_language::source::Span;

use super::identity::InstanceId;
use super::links::{End, Link};
use super::value::Value;

/// A message in the buffer.
pub(super) struct Message {
    /// Index into the interface's messages.
    pub index: usize,
    pub values: Vec<Value>,
    /// The place of the statement that sent it.
    pub span: Span,
}

/// The side of a communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

/// A communication that at least one side may still use.
pub(super) struct Communication {
    pub end: End,
    /// The component whose processes use the client's end.
    pub client: InstanceId,
    pub server: InstanceId,
    pub interface: InterfaceId,
    /// The connections it runs over.
    pub path: Vec<Link>,
    pub client_state: usize,
    pub server_state: usize,
    pub buffer: VecDeque<Message>,
    pub client_closed: bool,
    pub service_ended: bool,
    /// One side is lost. The other finds the communication closed, and may stop anywhere.
    pub broken: bool,
    /// The service is in its FINALLY, and no longer receives or sends.
    pub ending: bool,
}

impl Communication {
    /// The first message for this side.
    pub fn front(&self, side: Side, interface: &Interface) -> Option<&Message> {
        let hears = side == Side::Client || !self.ending;
        let first = self.buffer.front().filter(|_| hears);
        first.filter(|message| receiver(interface.messages[message.index].direction) == side)
    }

    /// Whether the other side will send no more.
    pub fn closed(&self, side: Side) -> bool {
        match side {
            Side::Client => self.service_ended || self.broken,
            Side::Server => self.client_closed || self.broken || self.ending,
        }
    }

    /// The answer to a test, if it is known yet.
    pub fn test(&self, side: Side, interface: &Interface, pattern: Pattern) -> Option<bool> {
        match (self.front(side, interface), pattern) {
            (Some(message), Pattern::Message(wanted)) => Some(message.index == wanted),
            (Some(_), Pattern::Any) => Some(true),
            (Some(_), Pattern::Finish) => Some(false),
            (None, pattern) if self.closed(side) => Some(pattern == Pattern::Finish),
            (None, _) => None,
        }
    }

    /// Whether the client may close the communication now.
    pub fn may_close(&self, interface: &Interface) -> bool {
        self.broken || interface.states[self.client_state].may_end
    }

    /// Whether the service has lost its client, and has not begun its FINALLY.
    pub fn leaves_service(&self) -> bool {
        self.broken && !self.ending
    }

    /// The state of this side in the protocol.
    pub fn state(&self, side: Side) -> usize {
        match side {
            Side::Client => self.client_state,
            Side::Server => self.server_state,
        }
    }

    pub fn advance(&mut self, side: Side, state: usize) {
        match side {
            Side::Client => self.client_state = state,
            Side::Server => self.server_state = state,
        }
    }
}

/// The side that receives messages of this direction.
fn receiver(direction: Direction) -> Side {
    match direction {
        Direction::In => Side::Server,
        Direction::Out => Side::Client,
    }
}

/// The state after a message, if the protocol allows it.
pub(super) fn next_state(interface: &Interface, state: usize, message: usize) -> Option<usize> {
    interface.states[state].transitions.iter().find(|(index, _)| *index == message).map(|(_, next)| *next)
}

/// The components in messages that no process will receive.
pub(super) fn components(messages: impl IntoIterator<Item = Message>) -> Vec<InstanceId> {
    messages
        .into_iter()
        .flat_map(|message| message.values)
        .filter_map(|value| match value {
            Value::Component(content) => content,
            _ => None,
        })
        .collect()
}
