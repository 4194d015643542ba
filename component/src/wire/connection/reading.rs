//! Handles the peer's frames. A frame may hold anything; one that is not valid ends the connection.

use alloc::rc::Rc;
use alloc::string::{String, ToString};
use core::mem::take;

use super::{Connection, Event, Handle, Reading, Waits};
use crate::interface::{Fingerprint, Side};
use crate::protocol::Protocol;
use crate::subtype::{Counterparts, serves};
use crate::wire::channel::{Channel, Credit, End, NO_NUMBER, Phase};
use crate::wire::description::Description;
use crate::wire::frame::{CONTROL, HEADER, Header, Kind, MAGIC, VERSION, reason};
use crate::wire::limits::Hello;
use crate::wire::xdr::Reader;

/// The greatest number of bytes of unread answers: a peer that asks for more without reading them ends the connection.
const UNREAD: usize = 8 * 1024 * 1024;

impl Connection {
    /// Handles bytes that the other side has sent.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while self.failure.is_none() && !bytes.is_empty() {
            bytes = match self.step(bytes) {
                Ok(rest) => rest,
                Err(why) => return self.farewell(&why),
            };
        }
    }

    /// Handles the next bytes according to the state of reading. The result is the bytes that are left.
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], String> {
        match self.reading {
            Reading::Message(index, left) => {
                let (now, rest) = bytes.split_at(left.min(bytes.len()));
                self.more_of_message(index, left, now);
                Ok(rest)
            }
            Reading::Header => match bytes.first_chunk() {
                Some(header) if self.partial.is_empty() => self.header(Header::read(header), bytes),
                _ => self.gather(bytes, HEADER, |connection, header| {
                    let parsed = Header::read(header.first_chunk().expect("all of it has come"));
                    connection.header(parsed, header).map(drop)
                }),
            },
            Reading::Body(header) => self.gather(bytes, header.length as usize, |connection, body| {
                connection.reading = Reading::Header;
                connection.frame(header, body)
            }),
        }
    }

    /// Hands over `count` bytes once they have come, without copying them if they come in one piece.
    fn gather<'a>(
        &mut self,
        bytes: &'a [u8],
        count: usize,
        then: impl FnOnce(&mut Connection, &[u8]) -> Result<(), String>,
    ) -> Result<&'a [u8], String> {
        if self.partial.is_empty() && bytes.len() >= count {
            let (whole, rest) = bytes.split_at(count);
            then(self, whole)?;
            return Ok(rest);
        }
        let (now, rest) = bytes.split_at((count - self.partial.len()).min(bytes.len()));
        self.partial.extend_from_slice(now);
        if self.partial.len() == count {
            let whole = take(&mut self.partial);
            then(self, &whole)?;
        }
        Ok(rest)
    }

    /// Handles a header, with which these bytes begin. The result is the bytes that are left.
    fn header<'a>(&mut self, header: Header, bytes: &'a [u8]) -> Result<&'a [u8], String> {
        let kind = Kind::of(header.kind);
        if self.theirs.is_none() && (kind != Some(Kind::Hello) || header.communication != MAGIC) {
            return Err("the other side does not speak Drystone's protocol".to_string());
        }
        if kind == Some(Kind::Message) {
            return self.message(header, bytes);
        }
        if header.length as usize > CONTROL {
            return Err(alloc::format!("a frame of {} bytes is too long", header.length));
        }
        match header.length {
            0 => self.frame(header, &[])?,
            _ => self.reading = Reading::Body(header),
        }
        Ok(&bytes[HEADER..])
    }

    /// Begins a message. If it is complete, it is copied once, together with complete messages that follow it.
    fn message<'a>(&mut self, header: Header, bytes: &'a [u8]) -> Result<&'a [u8], String> {
        let largest = self.limits.largest;
        if header.length > largest {
            return Err(alloc::format!(
                "a message of {} bytes has come, of more than {largest}",
                header.length
            ));
        }
        let index = self.find(header.communication)?;
        let Some(channel) = self.channels[index as usize].as_mut() else { return Ok(&bytes[HEADER..]) };
        if channel.closed_there || matches!(channel.phase, Phase::Asked { .. }) && !channel.closed_here {
            return Err("a message has come of a communication that has not begun, or is over".to_string());
        }
        if !channel.granted.allows() {
            return Err("more messages have come than were granted".to_string());
        }
        let length = header.length as usize;
        let more = channel.granted.spend(length);
        if more > 0 && self.overdrawn[0] >= i64::from(largest) {
            return Err("more bytes have come than were granted".to_string());
        }
        self.overdrawn[0] += more;
        if let Some(others) = bytes.get(HEADER + length..) {
            let (length, count) = run(header, others, &mut channel.granted, largest);
            let (frames, rest) = bytes.split_at(bytes.len() - others.len() + length);
            if channel.is_read() {
                channel.inbox.push(frames, 1 + count);
                self.wake(index, Waits::Message);
            }
            return Ok(rest);
        }
        if channel.is_read() {
            channel.inbox.begin(&header);
        }
        self.reading = Reading::Message(index, length);
        Ok(&bytes[HEADER..])
    }

    fn more_of_message(&mut self, index: u32, left: usize, bytes: &[u8]) {
        let whole = bytes.len() == left;
        // Both sides send their last frames only between messages, so the communication is still the same.
        if let Some(channel) = self.channels[index as usize].as_mut() {
            channel.inbox.append(bytes);
            if whole {
                channel.inbox.end();
                self.wake(index, Waits::Message);
            }
        }
        self.reading = if whole { Reading::Header } else { Reading::Message(index, left - bytes.len()) };
    }

    /// Handles a complete frame that is not a message.
    fn frame(&mut self, header: Header, body: &[u8]) -> Result<(), String> {
        let number = header.communication;
        match Kind::of(header.kind) {
            Some(Kind::Hello) => self.greeted(header, body),
            Some(Kind::Open) => self.asked_for(number, body),
            Some(Kind::Accepted) => self.accepted(number),
            Some(Kind::Credit) => self.granted(number, body),
            Some(Kind::Close) => self.closed(number, header.number, body),
            Some(Kind::Describe) => {
                self.owe_an_answer()?;
                self.events.push_back(Event::Asked { request: number, name: body.to_vec() });
                Ok(())
            }
            Some(Kind::Forms) => {
                if self.requests.front() == Some(&number) {
                    self.forms = body.to_vec();
                }
                Ok(())
            }
            Some(Kind::Description) => self.answered(number, header.number, body),
            Some(Kind::Ping) => {
                self.owe_an_answer()?;
                self.output.control(Kind::Pong, 0, 0, body);
                Ok(())
            }
            Some(Kind::Pong) => {
                let number = Reader::new(body).hyper("a pong's number")?;
                self.events.push_back(Event::Pong(number));
                Ok(())
            }
            Some(Kind::Farewell) => {
                self.lost(&sentence(body));
                Ok(())
            }
            // Frames that a later version may add are ignored.
            Some(Kind::Message) | None => Ok(()),
        }
    }

    fn greeted(&mut self, header: Header, body: &[u8]) -> Result<(), String> {
        if self.theirs.is_some() {
            return Err("a second hello has come".to_string());
        }
        if header.number < VERSION {
            return Err(alloc::format!("version {} of the protocol is not spoken here", header.number));
        }
        let theirs = Hello::decode(body)?;
        self.theirs = Some(theirs);
        for index in take(&mut self.early) {
            // A communication closed meanwhile no longer exists. Its slot may be that of a later one, which is in the
            // list too.
            let waits =
                |channel: &Channel| channel.number == NO_NUMBER && channel.held && channel.end.is_none();
            if self.channels[index as usize].as_ref().is_some_and(waits) {
                self.begin(index, theirs);
            }
        }
        Ok(())
    }

    /// The other side asks for a communication.
    fn asked_for(&mut self, number: u32, body: &[u8]) -> Result<(), String> {
        let mut reader = Reader::new(body);
        let wanted = Fingerprint::from_bytes(reader.array("the fingerprint")?);
        let name = reader.opaque("the name")?.to_vec();
        self.owe_an_answer()?;
        if number & 1 == self.role as u32 {
            return Err("the other side gives numbers that are this side's".to_string());
        }
        if self.begun[1].count() >= self.limits.communications {
            return Err(alloc::format!(
                "more than {} communications have been begun",
                self.limits.communications
            ));
        }
        if !self.begun[1].may_be_given(number >> 1) {
            return Err("a number was given to a communication that it must not have".to_string());
        }
        let index = self.add(Side::Server, number >> 1, Phase::Offered);
        self.begun[1].given(number >> 1, index);
        if let Some(channel) = self.channels[index as usize].as_mut() {
            channel.wanted = wanted;
        }
        self.events.push_back(Event::Offered { handle: Handle(index), name });
        Ok(())
    }

    /// The other side serves a communication.
    fn accepted(&mut self, number: u32) -> Result<(), String> {
        let theirs = self.theirs.unwrap_or_default();
        let index = self.find(number)?;
        let Some(channel) = self.channels[index as usize].as_mut() else { return Ok(()) };
        if channel.side == Side::Server || channel.closed_there {
            return Err("a communication was accepted that was not asked for".to_string());
        }
        if let Phase::Asked { .. } = channel.phase
            && !channel.closed_here
        {
            channel.phase = Phase::Open;
            channel.credit.begin(theirs);
            let target = &mut self.targets[channel.target as usize];
            if target.known.is_none() {
                target.known = Some((target.interface.fingerprint, None));
            }
            self.wake(index, Waits::Room);
        }
        Ok(())
    }

    fn granted(&mut self, number: u32, body: &[u8]) -> Result<(), String> {
        let mut reader = Reader::new(body);
        let (messages, bytes) = (reader.word("the credit")?, reader.word("the credit")?);
        let index = self.find(number)?;
        let Some(channel) = self.channels[index as usize].as_mut() else { return Ok(()) };
        self.overdrawn[1] -= channel.credit.add(messages, bytes.into())?;
        if channel.credit.allows() {
            self.wake(index, Waits::Room);
        }
        self.tell_of_room();
        Ok(())
    }

    /// The other side has sent its last frame of a communication.
    fn closed(&mut self, number: u32, why: u16, body: &[u8]) -> Result<(), String> {
        let index = self.find(number)?;
        let Some(channel) = self.channels[index as usize].as_mut() else { return Ok(()) };
        if channel.closed_there {
            return Err("a communication was closed twice".to_string());
        }
        channel.closed_there = true;
        if why == reason::DIFFERS && channel.side == Side::Client && !channel.closed_here {
            match self.other_interface(index, body) {
                Ok(fingerprint) => {
                    self.say_closed(index, reason::ORDERLY, &[]);
                    return self.ask_again(index, fingerprint);
                }
                Err(why) => self.over(index, End::Refused(why)),
            }
        } else {
            let end = match why {
                reason::ORDERLY => End::Closed,
                reason::REFUSED => End::Refused(sentence(body)),
                _ => End::Lost(sentence(body)),
            };
            self.over(index, end);
        }
        // This side sends its last frame when the holder gives the handle back: only then is the memory free, and
        // another communication may take its place.
        self.settle(index);
        Ok(())
    }

    fn over(&mut self, index: u32, end: End) {
        if let Some(channel) = self.channels[index as usize].as_mut() {
            channel.end.get_or_insert(end);
            self.wake(index, Waits::Message);
            self.wake(index, Waits::Room);
        }
    }

    /// The server's interface differs from the one asked for. Fails if it can't serve this side; otherwise gives its
    /// fingerprint.
    fn other_interface(&mut self, index: u32, body: &[u8]) -> Result<Fingerprint, String> {
        let Some(channel) = self.channels[index as usize].as_mut() else { return Err(String::new()) };
        let target = &mut self.targets[channel.target as usize];
        target.known = None;
        if channel.phase != (Phase::Asked { again: false }) {
            return Err("the server's interface has changed".to_string());
        }
        let description = Description::decode(body)
            .map_err(|why| "the server's description can't be understood: ".to_string() + &why)?;
        serves(&description, target.interface).map_err(|difference| difference.to_string())?;
        let counterparts = Rc::new(Counterparts::new(&description, target.interface));
        target.known = Some((description.fingerprint(), Some(counterparts)));
        Ok(description.fingerprint())
    }

    /// Asks for a communication again, with the fingerprint of the server's own interface.
    fn ask_again(&mut self, index: u32, fingerprint: Fingerprint) -> Result<(), String> {
        let number = self.begun[0].give(index);
        let Some(channel) = self.channels[index as usize].as_mut() else { return Ok(()) };
        channel.number = number;
        (channel.closed_here, channel.closed_there) = (false, false);
        (channel.credit, channel.granted) = (Credit::default(), channel.window);
        channel.phase = Phase::Asked { again: true };
        if let Some((_, counterparts)) = &self.targets[channel.target as usize].known {
            channel.counterparts.clone_from(counterparts);
        }
        self.ask(index, fingerprint);
        Ok(())
    }

    fn answered(&mut self, request: u32, failed: u16, body: &[u8]) -> Result<(), String> {
        if self.requests.pop_front() != Some(request) {
            return Err("a description has come that was not asked for".to_string());
        }
        let forms = take(&mut self.forms);
        let description = match failed {
            0 => Description::decode(body).and_then(|description| description.with_forms(&forms)),
            _ => Err(sentence(body)),
        };
        self.events.push_back(Event::Answered { request, description });
        Ok(())
    }

    /// The communication with this number.
    fn find(&self, number: u32) -> Result<u32, String> {
        let theirs = number & 1 != self.role as u32;
        self.begun[usize::from(theirs)]
            .get(number >> 1)
            .ok_or_else(|| alloc::format!("there is no communication {number}"))
    }

    /// Whether an answer to the other side may be added to the output. An error is a reason to end the connection.
    pub(super) fn owe_an_answer(&self) -> Result<(), String> {
        match self.output.rest().len() < UNREAD {
            true => Ok(()),
            false => Err("the other side asks without reading the answers".to_string()),
        }
    }
}

/// Finds complete messages of the same communication that follow each other and for which there is credit. The result
/// is the number of bytes of their frames, and their number.
fn run(of: Header, bytes: &[u8], granted: &mut Credit, largest: u32) -> (usize, u32) {
    let (mut length, mut count) = (0, 0);
    while let Some(next) = bytes[length..].first_chunk().map(Header::read) {
        let end = length + HEADER + next.length as usize;
        let is_alike = next.kind == of.kind && next.communication == of.communication;
        if !is_alike || end > bytes.len() || !granted.covers(next.length as usize) || next.length > largest {
            break;
        }
        granted.spend(next.length as usize);
        (length, count) = (end, count + 1);
    }
    (length, count)
}

/// A reason that the other side has sent, made fit to be printed.
fn sentence(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(2 * 1000)]);
    match text.trim().is_empty() {
        true => "the other side gave no reason".to_string(),
        false => text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
    }
}
