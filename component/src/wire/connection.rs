//! One end of a connection between two programs, and the communications that the connection carries. This file has the
//! methods for the owner; `beginning` opens communications, `reading` handles the peer's frames, `writing` makes this
//! end's frames.
//!
//! The client of a communication asks for a name, and sends the fingerprint of its interface. If the server's interface
//! is a different one, the server answers with a description of it, and the client decides whether the server's
//! interface can serve it too. If so, the client asks again, and from then on uses the server's message numbers: a
//! client with an older interface costs the server no additional work. Later communications with the same name begin
//! without waiting.

mod beginning;
mod reading;
mod writing;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::mem::{replace, take};

use super::channel::{Channel, Credit, End, NO_NUMBER, Phase, taken};
use super::description::Description;
use super::frame::{Header, Kind, Output, reason};
use super::limits::{Hello, Limits};
use super::numbers::Numbers;
use super::role::Role;
use crate::interface::{Fingerprint, Interface, Side};
use crate::subtype::Counterparts;

/// A communication of a connection. The holder gives it back with [`Connection::close`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(u32);

impl Handle {
    /// An index for tables: the indices of the handles that are held are small and distinct.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What has happened; see [`Connection::poll`].
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The other side asks for a communication: [`Connection::accept`] or [`Connection::refuse`] it.
    Offered {
        /// The communication.
        handle: Handle,
        /// The name for which the other side asks.
        name: Vec<u8>,
    },
    /// A message or the end has come, or there is room, after the holder was told that there was none.
    Ready(Handle),
    /// The other side asks for the interface behind a name; [`Connection::answer`] answers.
    Asked {
        /// The number of the request.
        request: u32,
        /// The name.
        name: Vec<u8>,
    },
    /// The other side has answered [`Connection::describe`].
    Answered {
        /// The number of the request.
        request: u32,
        /// The interface, or the reason why there is none.
        description: Result<Description, String>,
    },
    /// The other side has answered [`Connection::ping`].
    Pong(u64),
}

/// What has arrived from the other side of a communication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Nothing yet. An event will tell when something has arrived, or the pump is woken.
    Nothing,
    /// A message, by its number in this side's interface.
    Message(usize),
    /// The other side has closed the communication where the protocol allows that, and had received everything sent.
    Closed,
    /// The communication is lost, for a reason in words for people.
    Lost(String),
}

/// A name for which this side asks, and the facts known of its server.
#[derive(Debug)]
struct Target {
    name: Vec<u8>,
    interface: &'static Interface,
    /// The fingerprint of the server's interface, and the conversion of message numbers if its numbers differ; `None`
    /// before the first answer.
    known: Option<(Fingerprint, Option<Rc<Counterparts>>)>,
}

/// One end of a connection.
#[derive(Debug)]
pub struct Connection {
    role: Role,
    limits: Limits,
    /// The limits that the other side was told.
    ours: Hello,
    /// The limits of the other side; `None` before its first frame.
    theirs: Option<Hello>,
    /// By how many bytes the credit of all communications is overdrawn: by the other side, by this side.
    overdrawn: [i64; 2],
    /// Bytes that the other side may send in all communications together before any have been taken.
    windows: u64,
    channels: Vec<Option<Channel>>,
    free: Vec<u32>,
    /// Communications by number: those whose number this side gave, those whose number the other side gave.
    begun: [Numbers; 2],
    targets: Vec<Target>,
    targets_by_name: BTreeMap<Vec<u8>, Vec<u32>>,
    reading: Reading,
    partial: Vec<u8>,
    output: Output,
    events: VecDeque<Event>,
    /// Communications for which to ask once the other side has told its limits.
    early: Vec<u32>,
    /// Communications for which a grant is to be sent.
    owing: Vec<u32>,
    /// Communications whose holders are to be told when there is room in the output.
    blocked: Vec<u32>,
    /// Requests that the other side has not answered.
    requests: VecDeque<u32>,
    last_request: u32,
    /// What the sequences of the next description consist of.
    forms: Vec<u8>,
    failure: Option<String>,
}

/// The state of reading: what the next bytes belong to.
#[derive(Debug)]
enum Reading {
    Header,
    /// The body of a frame that is handled once it is complete.
    Body(Header),
    /// A message of this communication, and the number of its bytes still to come.
    Message(u32, usize),
}

/// The event for which a holder waits.
#[derive(Clone, Copy)]
enum Waits {
    Message,
    Room,
}

/// No message is sent while at least this many bytes of output wait.
const FULL: usize = 1024 * 1024;

impl Connection {
    /// Begins the connection. The first output is there at once.
    pub fn new(role: Role, limits: Limits) -> Connection {
        let mut connection = Connection {
            role,
            limits,
            ours: limits.hello(),
            theirs: None,
            overdrawn: [0; 2],
            windows: 0,
            channels: Vec::new(),
            free: Vec::new(),
            begun: Default::default(),
            targets: Vec::new(),
            targets_by_name: BTreeMap::new(),
            reading: Reading::Header,
            partial: Vec::new(),
            output: Output::default(),
            events: VecDeque::new(),
            early: Vec::new(),
            owing: Vec::new(),
            blocked: Vec::new(),
            requests: VecDeque::new(),
            last_request: 0,
            forms: Vec::new(),
            failure: None,
        };
        connection.hello();
        connection
    }

    /// The reason why the connection is over, if it is. Nothing more is read; the rest of the output tells the other
    /// side.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Whether the other side has told its limits, which must be its first frame.
    pub fn is_greeted(&self) -> bool {
        self.theirs.is_some()
    }

    /// The next event since the last call.
    pub fn poll(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The number of communications that have not completely ended.
    pub fn communications(&self) -> usize {
        self.channels.len() - self.free.len()
    }

    /// Whether the other side has refused to begin a communication, so that it has handled no message of it.
    pub fn was_refused(&mut self, handle: Handle) -> bool {
        self.channel(handle).is_some_and(|channel| matches!(channel.end, Some(End::Refused(_))))
    }

    /// What has arrived in a communication. A message remains until it is taken.
    #[inline]
    pub fn arrival(&mut self, handle: Handle) -> Arrival {
        let Some(channel) = self.channel(handle) else { return Arrival::Nothing };
        if channel.phase == Phase::Offered {
            return Arrival::Nothing;
        }
        if let Some(number) = channel.inbox.number() {
            if let Some(number) = channel.number_received(number) {
                return Arrival::Message(number);
            }
            let why = alloc::format!("message {number} has come, which the other side does not send");
            channel.inbox.clear();
            channel.end = Some(End::Lost(why.clone()));
            self.say_closed(handle.0, reason::LOST, why.as_bytes());
            return Arrival::Lost(why);
        }
        match &channel.end {
            Some(End::Closed) => Arrival::Closed,
            Some(End::Lost(why) | End::Refused(why)) => Arrival::Lost(why.clone()),
            None => {
                channel.waits_for_message = true;
                Arrival::Nothing
            }
        }
    }

    /// Takes the message that [`Connection::arrival`] reports: hands its bytes to `values`, see
    /// [`decode`](super::decode), after which the other side may send one more. The result is that of `values`, and the
    /// number of the next message if it has arrived, as [`Connection::arrival`] would report it.
    #[inline]
    pub fn take<T>(&mut self, handle: Handle, values: impl FnOnce(&[u8]) -> T) -> (T, Option<usize>) {
        let Some(channel) = self.channel(handle).filter(|channel| !channel.inbox.is_empty()) else {
            return (values(&[]), None);
        };
        let (given, length) = channel.inbox.take(values);
        channel.taken.messages += 1;
        channel.taken.bytes += taken(length);
        let next = channel.inbox.number().and_then(|number| channel.number_received(number));
        if !channel.owes && channel.should_grant() {
            channel.owes = true;
            self.owing.push(handle.0);
        }
        (given, next)
    }

    /// Whether one more message may be sent now. If not, an event will tell when there is room. After the communication
    /// has ended, the answer is always true, and messages are dropped.
    #[inline]
    pub fn has_room(&mut self, handle: Handle) -> bool {
        let full = self.is_full();
        let Some(channel) = self.channel(handle) else { return true };
        if channel.end.is_some() {
            return true;
        }
        if channel.phase == Phase::Open && channel.credit.allows() && !full {
            return true;
        }
        let waited = replace(&mut channel.waits_for_room, true);
        if full && !waited {
            self.blocked.push(handle.0);
        }
        false
    }

    /// Sends a message, given by its number in this side's interface. There must be room. `values` appends its values,
    /// see [`encode`](super::encode). After an error, which says what is wrong with the message, nothing has been sent.
    pub fn send(
        &mut self,
        handle: Handle,
        message: usize,
        values: impl FnOnce(&mut Vec<u8>) -> Result<(), String>,
    ) -> Result<(), String> {
        let largest = self.theirs.map_or(0, |limits| limits.largest) as usize;
        let channel = self.channels.get_mut(handle.0 as usize).and_then(Option::as_mut);
        let Some(channel) = channel.filter(|channel| channel.is_read()) else { return Ok(()) };
        if channel.phase != Phase::Open || !channel.credit.allows() {
            return Err("a message was sent without room for it".to_string());
        }
        let number = channel
            .number_to_send(message)
            .ok_or_else(|| "the other side does not know this message".to_string())?;
        let communication = channel.on_wire(self.role);
        match self.output.frame(Kind::Message, number, communication, largest, values)? {
            Ok(length) => {
                self.overdrawn[1] += channel.credit.spend(length);
                Ok(())
            }
            Err(length) => Err(alloc::format!(
                "a message of {length} bytes is too long: the other side takes at most {largest}"
            )),
        }
    }

    /// Ends a communication where the protocol allows it. The handle is no longer valid.
    pub fn close(&mut self, handle: Handle) {
        self.end(handle, reason::ORDERLY, &[]);
    }

    /// Ends a communication for a reason, which the other side is told. The handle is no longer valid.
    pub fn abandon(&mut self, handle: Handle, why: &str) {
        self.end(handle, reason::LOST, why.as_bytes());
    }

    /// Asks the other side to send this number back.
    pub fn ping(&mut self, number: u64) {
        self.output.control(Kind::Ping, 0, 0, &number.to_be_bytes());
    }

    /// Input has ended, or output can't be sent: all communications are lost, for this reason.
    pub fn lost(&mut self, reason: &str) {
        if self.failure.is_some() {
            return;
        }
        self.failure = Some(reason.to_string());
        for index in 0..self.channels.len() as u32 {
            let Some(channel) = self.channels[index as usize].as_mut() else { continue };
            (channel.closed_here, channel.closed_there) = (true, true);
            if channel.end.is_none() {
                self.lose(index, reason.to_string());
            }
            self.settle(index);
        }
    }

    /// Ends the connection, and tells the other side the reason.
    pub fn farewell(&mut self, why: &str) {
        if self.failure.is_none() {
            self.say_farewell(why);
            self.lost(why);
        }
    }

    /// Bytes of memory in use: messages not yet taken, output not yet sent, and the table of communications.
    pub fn held(&self) -> usize {
        let inboxes: usize = self.channels.iter().flatten().map(|channel| channel.inbox.held()).sum();
        let channels = self.channels.len() * size_of::<Option<Channel>>();
        inboxes + channels + self.partial.capacity() + self.output.held()
    }

    /// Ends the connection, if it isn't over, and frees the messages that have not been taken, which are lost. A peer
    /// that leaves much output unread isn't told the reason.
    pub fn evict(&mut self, why: &str) {
        if self.output.rest().len() > FULL / 2 {
            self.output = Output::default();
            self.lost(why);
        }
        self.farewell(why);
        self.partial = Vec::new();
        for index in 0..self.channels.len() as u32 {
            let Some(channel) = self.channels[index as usize].as_mut() else { continue };
            if channel.inbox.held() > 0 {
                channel.inbox.clear();
                channel.end = Some(End::Lost(why.to_string()));
                self.wake(index, Waits::Message);
            }
        }
    }

    fn channel(&mut self, handle: Handle) -> Option<&mut Channel> {
        self.channels.get_mut(handle.0 as usize)?.as_mut().filter(|channel| channel.held)
    }

    fn add(&mut self, side: Side, number: u32, phase: Phase) -> u32 {
        let window = Credit { messages: self.ours.messages, bytes: self.ours.bytes.into() };
        self.windows += u64::from(self.ours.bytes);
        let channel = Channel {
            side,
            number,
            target: 0,
            phase,
            interface: None,
            wanted: Fingerprint([0; 2]),
            counterparts: None,
            inbox: Default::default(),
            granted: window,
            taken: Credit::default(),
            window,
            credit: Credit::default(),
            end: None,
            closed_here: false,
            closed_there: false,
            held: true,
            waits_for_message: true,
            waits_for_room: false,
            owes: false,
        };
        if let Some(index) = self.free.pop() {
            self.channels[index as usize] = Some(channel);
            return index;
        }
        self.channels.push(Some(channel));
        self.channels.len() as u32 - 1
    }

    /// The holder gives the handle back.
    fn end(&mut self, handle: Handle, why: u16, body: &[u8]) {
        let Some(channel) = self.channel(handle) else { return };
        channel.held = false;
        channel.inbox.clear();
        // If the other side has ended it first, only its reason counts.
        match channel.closed_there {
            true => self.say_closed(handle.0, reason::ORDERLY, &[]),
            false => self.say_closed(handle.0, why, body),
        }
    }

    /// Has the holder look again, if it has been told that there was no message or no room.
    fn wake(&mut self, index: u32, waits: Waits) {
        let Some(channel) = self.channels[index as usize].as_mut().filter(|channel| channel.held) else {
            return;
        };
        let flag = match waits {
            Waits::Message => &mut channel.waits_for_message,
            Waits::Room => &mut channel.waits_for_room,
        };
        if replace(flag, false) {
            self.events.push_back(Event::Ready(Handle(index)));
        }
    }

    /// Frees the number of a communication after both sides have sent their last frames, and its slot if no handle is
    /// held.
    fn settle(&mut self, index: u32) {
        let Some(channel) = self.channels[index as usize].as_mut() else { return };
        if !channel.closed_here || !channel.closed_there {
            return;
        }
        let number = replace(&mut channel.number, NO_NUMBER);
        let (side, window, is_over) = (channel.side, channel.window.bytes, !channel.held);
        self.overdrawn[0] -= take(&mut channel.granted).overdrawn();
        self.overdrawn[1] -= take(&mut channel.credit).overdrawn();
        match side {
            _ if number == NO_NUMBER => {}
            Side::Client => self.begun[0].take_back(number),
            Side::Server => self.begun[1].end(number),
        }
        if is_over {
            self.windows -= window.unsigned_abs();
            self.channels[index as usize] = None;
            self.free.push(index);
        }
        self.tell_of_room();
    }
}
