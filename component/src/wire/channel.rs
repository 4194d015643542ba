//! The state of one communication, as this end of its connection sees it.

use alloc::rc::Rc;
use alloc::string::String;

use super::frame::HEADER;
use super::inbox::Inbox;
use super::limits::Hello;
use super::role::Role;
use crate::interface::{Fingerprint, Interface, Side};
use crate::subtype::Counterparts;

/// Credit: how much may be sent before more is granted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Credit {
    pub messages: u32,
    /// The last message may take more than what was left.
    pub bytes: i64,
}

impl Credit {
    pub(super) fn allows(&self) -> bool {
        self.messages > 0 && self.bytes > 0
    }

    /// Whether a message whose body has so many bytes may be sent.
    pub(super) fn covers(&self, length: usize) -> bool {
        self.allows() && self.bytes >= taken(length)
    }

    /// The credit with which each communication begins.
    pub(super) fn begin(&mut self, theirs: Hello) {
        self.messages = self.messages.saturating_add(theirs.messages);
        self.bytes = self.bytes.saturating_add(theirs.bytes.into());
    }

    /// Adds credit; gives by how much less it is overdrawn. Fails if that is more than a peer may grant.
    pub(super) fn add(&mut self, messages: u32, bytes: i64) -> Result<i64, String> {
        let before = self.overdrawn();
        self.messages = self.messages.checked_add(messages).ok_or("too much is granted")?;
        self.bytes = self.bytes.saturating_add(bytes);
        Ok(before - self.overdrawn())
    }

    /// Takes the credit for a message whose body has so many bytes; gives by how much more it is overdrawn.
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
    /// This end has asked for it, once or twice, and waits for the answer.
    Asked { again: bool },
    /// The peer has asked for it, and waits.
    Offered,
    /// It has begun.
    Open,
}

/// How a communication ended.
#[derive(Clone, Debug)]
pub(super) enum End {
    Closed,
    Lost(String),
    /// The other side has refused to begin it.
    Refused(String),
}

/// Instead of a number: the peer does not know the communication, or no longer.
pub(super) const NO_NUMBER: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Channel {
    /// Which side of the communication this end is.
    pub side: Side,
    /// Its number, without the bit that says who gave it, or [`NO_NUMBER`].
    pub number: u32,
    /// What is known as its name's server; of a client's end.
    pub target: u32,
    pub phase: Phase,
    /// None: it isn't known yet what serves it.
    pub interface: Option<&'static Interface>,
    /// Which one the other side asked for.
    pub wanted: Fingerprint,
    /// Of a client's end, if the server's interface has other numbers.
    pub counterparts: Option<Rc<Counterparts>>,
    pub inbox: Inbox,
    /// What the other side may send.
    pub granted: Credit,
    /// The part of it that has been taken, and is to be granted again.
    pub taken: Credit,
    /// What the other side may send at most.
    pub window: Credit,
    /// What this side may send.
    pub credit: Credit,
    pub end: Option<End>,
    /// This side has sent the last frame that it sends.
    pub closed_here: bool,
    /// The other side has.
    pub closed_there: bool,
    /// This program holds a handle of it.
    pub held: bool,
    /// Its holder has been told that no message is there.
    pub waits_for_message: bool,
    /// Its holder has been told that there is no room.
    pub waits_for_room: bool,
    /// A grant is to be sent.
    pub owes: bool,
}

impl Channel {
    /// Widens what the peer may send, and grants it.
    pub(super) fn widen(&mut self, more: Credit) {
        for credit in [&mut self.window, &mut self.granted] {
            credit.messages += more.messages;
            credit.bytes += more.bytes;
        }
    }

    /// Its number with the bit that says who gave it.
    pub(super) fn on_wire(&self, role: Role) -> u32 {
        self.number << 1 | u32::from((self.side == Side::Server) != (role == Role::Acceptor))
    }

    /// The number of a message that this end sends, as the server knows it.
    pub(super) fn number_to_send(&self, message: usize) -> Option<u16> {
        let number = match &self.counterparts {
            Some(counterparts) => (*counterparts.at_server.get(message)?)? as usize,
            None => message,
        };
        u16::try_from(number).ok()
    }

    /// The number here of a message that has come, if the other side may send it at all.
    pub(super) fn number_received(&self, number: u16) -> Option<usize> {
        let number = match &self.counterparts {
            Some(counterparts) => (*counterparts.at_client.get(usize::from(number))?)? as usize,
            None => number.into(),
        };
        let message = self.interface?.messages.get().get(number)?;
        (message.sender != self.side).then_some(number)
    }

    /// Whether this program still takes messages.
    pub(super) fn is_read(&self) -> bool {
        self.held && self.end.is_none()
    }

    /// Whether so much has been taken that the peer should be granted more.
    pub(super) fn should_grant(&self) -> bool {
        !self.closed_there
            && (self.taken.messages * 2 >= self.window.messages || self.taken.bytes * 2 >= self.window.bytes)
    }
}
