//! The state of one communication, as this end of its connection sees it.

use alloc::rc::Rc;
use alloc::string::String;

use super::frame::HEADER;
use super::inbox::Inbox;
use super::limits::Hello;
use super::role::Role;
use crate::interface::{Fingerprint, Interface, Side};
use crate::subtype::Counterparts;

/// Credit: the messages and bytes that may be sent before more is granted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Credit {
    pub messages: u32,
    /// The last message may be larger than the bytes that were left; the credit is then overdrawn.
    pub bytes: i64,
}

impl Credit {
    pub(super) fn allows(&self) -> bool {
        self.messages > 0 && self.bytes > 0
    }

    /// Whether a message with a body of this length may be sent without overdrawing.
    pub(super) fn covers(&self, length: usize) -> bool {
        self.allows() && self.bytes >= taken(length)
    }

    /// Adds the credit with which each communication begins.
    pub(super) fn begin(&mut self, theirs: Hello) {
        self.messages = self.messages.saturating_add(theirs.messages);
        self.bytes = self.bytes.saturating_add(theirs.bytes.into());
    }

    /// Adds credit. The result is by how many bytes less the credit is overdrawn. Fails if a peer may not grant that
    /// much.
    pub(super) fn add(&mut self, messages: u32, bytes: i64) -> Result<i64, String> {
        let before = self.overdrawn();
        self.messages = self.messages.checked_add(messages).ok_or("too much is granted")?;
        self.bytes = self.bytes.saturating_add(bytes);
        Ok(before - self.overdrawn())
    }

    /// Takes the credit for a message with a body of this length. The result is by how many bytes more it is overdrawn.
    pub(super) fn spend(&mut self, length: usize) -> i64 {
        let before = self.overdrawn();
        self.messages -= 1;
        self.bytes -= taken(length);
        self.overdrawn() - before
    }

    /// By how much the last message exceeded the credit.
    pub(super) fn overdrawn(&self) -> i64 {
        (-self.bytes).max(0)
    }
}

/// The credit that a message takes: its body and its header.
pub(super) fn taken(length: usize) -> i64 {
    (HEADER + length) as i64
}

/// The phase of a communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// This end has asked for the communication, once or `again`, and waits for the answer.
    Asked { again: bool },
    /// The peer has asked for the communication, and waits for the answer.
    Offered,
    /// It has begun.
    Open,
}

/// How a communication ended.
#[derive(Clone, Debug)]
pub(super) enum End {
    Closed,
    Lost(String),
    /// The other side has refused to begin the communication.
    Refused(String),
}

/// In place of a number: the peer does not know the communication (any more).
pub(super) const NO_NUMBER: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Channel {
    /// The side of the communication at this end.
    pub side: Side,
    /// The communication's number, without the bit for the end that gave it, or [`NO_NUMBER`].
    pub number: u32,
    /// At a client's end: the index of its server's name in `Connection::targets`.
    pub target: u32,
    pub phase: Phase,
    /// The interface; `None` while an offered communication has not been accepted.
    pub interface: Option<&'static Interface>,
    /// The fingerprint of the interface for which the other side asked.
    pub wanted: Fingerprint,
    /// At a client's end: the conversion of message numbers, if the server's interface numbers its messages
    /// differently.
    pub counterparts: Option<Rc<Counterparts>>,
    pub inbox: Inbox,
    /// The credit of the other side.
    pub granted: Credit,
    /// The part of that credit that has been used by messages taken since, and is to be granted again.
    pub taken: Credit,
    /// The greatest credit of the other side.
    pub window: Credit,
    /// The credit of this side.
    pub credit: Credit,
    pub end: Option<End>,
    /// This side has sent its last frame of the communication.
    pub closed_here: bool,
    /// The other side has sent its last frame of the communication.
    pub closed_there: bool,
    /// This program holds a handle of the communication.
    pub held: bool,
    /// The holder has been told that no message is there.
    pub waits_for_message: bool,
    /// The holder has been told that there is no room.
    pub waits_for_room: bool,
    /// A grant is to be sent.
    pub owes: bool,
}

impl Channel {
    /// Widens the window of the peer, and gives it the additional credit.
    pub(super) fn widen(&mut self, more: Credit) {
        for credit in [&mut self.window, &mut self.granted] {
            credit.messages += more.messages;
            credit.bytes += more.bytes;
        }
    }

    /// The communication's number with the bit for the end that gave it.
    pub(super) fn on_wire(&self, role: Role) -> u32 {
        self.number << 1 | u32::from((self.side == Side::Server) != (role == Role::Acceptor))
    }

    /// A message's number at the server's side, for a message that this end sends; `None` if the server does not know
    /// it.
    pub(super) fn number_to_send(&self, message: usize) -> Option<u16> {
        let number = match &self.counterparts {
            Some(counterparts) => (*counterparts.at_server.get(message)?)? as usize,
            None => message,
        };
        u16::try_from(number).ok()
    }

    /// A received message's number at this end; `None` if the other side cannot send it.
    pub(super) fn number_received(&self, number: u16) -> Option<usize> {
        let number = match &self.counterparts {
            Some(counterparts) => (*counterparts.at_client.get(usize::from(number))?)? as usize,
            None => number.into(),
        };
        let message = self.interface?.messages.get().get(number)?;
        (message.sender != self.side).then_some(number)
    }

    /// Whether this program still takes messages of the communication.
    pub(super) fn is_read(&self) -> bool {
        self.held && self.end.is_none()
    }

    /// Whether the peer should be granted more credit because enough has been taken.
    pub(super) fn should_grant(&self) -> bool {
        !self.closed_there
            && (self.taken.messages * 2 >= self.window.messages || self.taken.bytes * 2 >= self.window.bytes)
    }
}
