//! Makes the frames that this end sends, other than messages.

use alloc::vec::Vec;
use core::mem::take;

use super::beginning::described;
use super::{Connection, FULL, Waits};
use crate::interface::{Fingerprint, Interface};
use crate::wire::channel::{Credit, NO_NUMBER};
use crate::wire::description::Description;
use crate::wire::frame::{CONTROL, Kind, MAGIC, VERSION, reason};
use crate::wire::xdr::put_opaque;

/// The greatest length of a sentence that is sent to the other side.
const SENTENCE: usize = 1000;

impl Connection {
    /// The bytes to be sent now. After sending some of them, the owner calls [`Connection::sent`].
    pub fn output(&mut self) -> &[u8] {
        // Grants are delayed while much output waits: a peer that does not read its input is granted nothing more.
        if self.output.rest().len() < FULL {
            let mut owing = take(&mut self.owing);
            owing.drain(..).for_each(|index| self.grant(index));
            // Only taking a message adds to the list, so nothing has been added meanwhile.
            self.owing = owing;
        }
        self.output.rest()
    }

    /// Notes that `count` bytes of the output have been sent.
    pub fn sent(&mut self, count: usize) {
        self.output.sent(count);
        self.tell_of_room();
    }

    /// Whether no communication may send: much output waits, or the credits are overdrawn by as much as they may be
    /// together.
    pub(super) fn is_full(&self) -> bool {
        let may_overdraw = self.theirs.map_or(0, |theirs| theirs.largest).max(1);
        self.output.rest().len() >= FULL || self.overdrawn[1] >= may_overdraw.into()
    }

    /// Tells the holders that were told that there was no room, if there is room again.
    pub(super) fn tell_of_room(&mut self) {
        if !self.blocked.is_empty() && !self.is_full() {
            for index in take(&mut self.blocked) {
                self.wake(index, Waits::Room);
            }
        }
    }

    /// Whether there is anything to be sent.
    #[inline]
    pub fn has_output(&self) -> bool {
        !self.output.rest().is_empty() || !self.owing.is_empty()
    }

    /// The number of bytes of output, without grants.
    #[inline]
    pub fn unsent(&self) -> usize {
        self.output.rest().len()
    }

    /// Whether grants are to be sent to the other side.
    #[inline]
    pub fn owes(&self) -> bool {
        !self.owing.is_empty()
    }

    pub(super) fn hello(&mut self) {
        self.output.control(Kind::Hello, VERSION, MAGIC, &self.ours.encode());
    }

    /// Sends the request for a communication that has a number.
    pub(super) fn ask(&mut self, index: u32, fingerprint: Fingerprint) {
        let Some(channel) = &self.channels[index as usize] else { return };
        let mut body = Vec::new();
        body.extend_from_slice(&fingerprint.to_bytes());
        put_opaque(&mut body, &self.targets[channel.target as usize].name);
        self.output.control(Kind::Open, 0, channel.on_wire(self.role), &body);
        self.grant_extra(index);
    }

    /// Grants the peer the credit that this communication has beyond the usual.
    pub(super) fn grant_extra(&mut self, index: u32) {
        let Some(channel) = &self.channels[index as usize] else { return };
        let messages = channel.window.messages - self.ours.messages;
        if messages > 0 {
            let bytes = channel.window.bytes - i64::from(self.ours.bytes);
            let communication = channel.on_wire(self.role);
            self.say_credit(communication, messages, bytes as u32);
        }
    }

    fn say_credit(&mut self, communication: u32, messages: u32, bytes: u32) {
        let mut body = [0; 8];
        body[..4].copy_from_slice(&messages.to_be_bytes());
        body[4..].copy_from_slice(&bytes.to_be_bytes());
        self.output.control(Kind::Credit, 0, communication, &body);
    }

    /// Grants the other side as much as has been taken.
    fn grant(&mut self, index: u32) {
        let Some(channel) = self.channels[index as usize].as_mut() else { return };
        // Another communication may have this slot now. If it owes a grant, it is in the list too.
        if !take(&mut channel.owes) || channel.closed_here || channel.closed_there {
            return;
        }
        let Credit { messages, bytes } = take(&mut channel.taken);
        // A peer that sends much gets more, so that it can send until the next grant reaches it.
        let more = match bytes * 2 >= channel.window.bytes {
            true => self.limits.more(channel.window.bytes, channel.window.bytes, self.windows),
            false => 0,
        };
        channel.window.bytes += more;
        self.windows += more.unsigned_abs();
        let bytes = u32::try_from(bytes + more).unwrap_or(u32::MAX);
        let communication = channel.on_wire(self.role);
        // The bytes taken had been spent before, so adding them cannot fail.
        self.overdrawn[0] -= channel.granted.add(messages, bytes.into()).unwrap_or(0);
        self.say_credit(communication, messages, bytes);
    }

    /// Sends the last frame of a communication, unless it has been sent already.
    pub(super) fn say_closed(&mut self, index: u32, why: u16, body: &[u8]) {
        let Some(channel) = self.channels[index as usize].as_mut() else { return };
        if !channel.closed_here {
            channel.closed_here = true;
            match channel.number {
                NO_NUMBER => channel.closed_there = true,
                _ if why == reason::DIFFERS && body.len() > CONTROL => {
                    let (communication, sentence) =
                        (channel.on_wire(self.role), &b"its description is too long"[..]);
                    self.output.control(Kind::Close, reason::REFUSED, communication, sentence);
                }
                _ => {
                    let body = if why == reason::DIFFERS { body } else { clip(body) };
                    self.output.control(Kind::Close, why, channel.on_wire(self.role), body);
                }
            }
        }
        self.settle(index);
    }

    pub(super) fn describe_request(&mut self, request: u32, name: &[u8]) {
        self.output.control(Kind::Describe, 0, request, name);
    }

    pub(super) fn describe_answer(&mut self, request: u32, interface: Result<&'static Interface, &str>) {
        if let Ok(interface) = interface {
            let forms = Description::forms_of(interface);
            if !forms.is_empty() && forms.len() <= CONTROL {
                self.output.control(Kind::Forms, 0, request, &forms);
            }
        }
        match interface.map(described) {
            Ok(bytes) if bytes.len() <= CONTROL => {
                self.output.control(Kind::Description, 0, request, &bytes);
            }
            Ok(_) => self.output.control(Kind::Description, 1, request, b"its description is too long"),
            Err(why) => self.output.control(Kind::Description, 1, request, clip(why.as_bytes())),
        }
    }

    pub(super) fn say_farewell(&mut self, why: &str) {
        self.output.control(Kind::Farewell, 0, 0, clip(why.as_bytes()));
    }
}

/// The beginning of a sentence, as much as a frame may hold.
fn clip(sentence: &[u8]) -> &[u8] {
    &sentence[..sentence.len().min(SENTENCE)]
}
