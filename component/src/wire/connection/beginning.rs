//! How communications begin: this end asks for one, or serves one for which the peer asks. Also asks for, and
//! describes, the interface behind a name before a communication begins.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Connection, End, Handle, Target, Waits};
use crate::interface::{Interface, Side};
use crate::wire::channel::{Channel, Credit, NO_NUMBER, Phase};
use crate::wire::description::Description;
use crate::wire::frame::{Kind, reason};
use crate::wire::limits::Hello;

impl Connection {
    /// Asks the other side for a communication with the server called `name`. The server may send at least `capacity`
    /// messages before one has been taken; with 0 the usual number.
    pub fn open(&mut self, name: &[u8], interface: &'static Interface, capacity: u32) -> Handle {
        let target = self.target(name, interface);
        let index = self.add(Side::Client, NO_NUMBER, Phase::Asked { again: false });
        if let Some(channel) = self.channels[index as usize].as_mut() {
            channel.interface = Some(interface);
            channel.target = target;
        }
        self.widen(index, capacity);
        match (&self.failure, self.theirs) {
            (Some(reason), _) => self.lose(index, reason.clone()),
            (None, Some(theirs)) => self.begin(index, theirs),
            (None, None) => self.early.push(index),
        }
        Handle(index)
    }

    /// Gives a communication a number and asks for it. The other side's limits are known by then.
    pub(super) fn begin(&mut self, index: u32, theirs: Hello) {
        if self.begun[0].count() >= theirs.communications {
            let limit = theirs.communications;
            return self.lose(index, format!("the other side takes only {limit} communications at once"));
        }
        let Some(channel) = self.channels[index as usize].as_mut() else { return };
        channel.number = self.begun[0].give(index);
        let target = &self.targets[channel.target as usize];
        let mut fingerprint = target.interface.fingerprint;
        if let Some((servers, counterparts)) = &target.known {
            fingerprint = *servers;
            channel.counterparts.clone_from(counterparts);
            channel.phase = Phase::Open;
            channel.credit.begin(theirs);
        }
        self.ask(index, fingerprint);
    }

    /// Ends a communication of this side of which the other side knows nothing.
    pub(super) fn lose(&mut self, index: u32, why: String) {
        let Some(channel) = self.channels[index as usize].as_mut() else { return };
        channel.end = Some(End::Lost(why));
        (channel.closed_here, channel.closed_there) = (true, true);
        self.wake(index, Waits::Message);
        self.wake(index, Waits::Room);
    }

    /// Serves a communication for which the other side has asked. If it asked for a different interface, it is sent a
    /// description of this one; the communication ends, the answer is false, and the handle is no longer valid.
    /// `capacity` is as for [`Connection::open`].
    pub fn accept(&mut self, handle: Handle, interface: &'static Interface, capacity: u32) -> bool {
        let (role, theirs) = (self.role, self.theirs.unwrap_or_default());
        let Some(channel) = self.offered(handle) else { return false };
        if channel.wanted == interface.fingerprint {
            channel.interface = Some(interface);
            channel.phase = Phase::Open;
            channel.credit.begin(theirs);
            // The connection may have ended meanwhile.
            if !channel.closed_here {
                let communication = channel.on_wire(role);
                self.output.control(Kind::Accepted, 0, communication, &[]);
                self.widen(handle.0, capacity);
                self.grant_extra(handle.0);
            }
            return true;
        }
        match self.owe_an_answer() {
            Ok(()) => self.end(handle, reason::DIFFERS, &described(interface)),
            Err(why) => {
                self.farewell(&why);
                self.end(handle, reason::LOST, &[]);
            }
        }
        false
    }

    /// Refuses to serve a communication for which the other side has asked, and tells it the reason. The handle is no
    /// longer valid.
    pub fn refuse(&mut self, handle: Handle, why: &str) {
        if self.offered(handle).is_some() {
            self.end(handle, reason::REFUSED, why.as_bytes());
        }
    }

    /// Lets the other side send at least `capacity` messages of a communication, and proportionally more bytes as far
    /// as the limits leave some.
    fn widen(&mut self, index: u32, capacity: u32) {
        let Some(channel) = self.channels[index as usize].as_mut() else { return };
        let messages = capacity.saturating_sub(channel.window.messages);
        let wanted = i64::from(messages) * channel.window.bytes / i64::from(channel.window.messages);
        let bytes = self.limits.more(wanted, channel.window.bytes, self.windows);
        channel.widen(Credit { messages, bytes });
        self.windows += bytes.unsigned_abs();
    }

    fn offered(&mut self, handle: Handle) -> Option<&mut Channel> {
        self.channel(handle).filter(|channel| channel.phase == Phase::Offered)
    }

    /// Asks the other side for the interface behind a name. The result is the number of the request.
    pub fn describe(&mut self, name: &[u8]) -> u32 {
        self.last_request = self.last_request.wrapping_add(1);
        self.requests.push_back(self.last_request);
        self.describe_request(self.last_request, name);
        self.last_request
    }

    /// Answers a request of the other side for an interface.
    pub fn answer(&mut self, request: u32, interface: Result<&'static Interface, &str>) {
        match self.owe_an_answer() {
            Ok(()) => self.describe_answer(request, interface),
            Err(why) => self.farewell(&why),
        }
    }

    /// Finds or adds the entry of a name and an interface.
    fn target(&mut self, name: &[u8], interface: &'static Interface) -> u32 {
        let known = self.targets_by_name.get(name).map_or(&[][..], Vec::as_slice);
        let same = |target: &&u32| core::ptr::eq(self.targets[**target as usize].interface, interface);
        if let Some(target) = known.iter().find(same) {
            return *target;
        }
        let target = self.targets.len() as u32;
        self.targets.push(Target { name: name.to_vec(), interface, known: None });
        self.targets_by_name.entry(name.to_vec()).or_default().push(target);
        target
    }
}

/// The encoded description of an interface.
pub(super) fn described(interface: &Interface) -> Vec<u8> {
    let mut bytes = Vec::new();
    Description::of(interface).encode(&mut bytes);
    bytes
}
