//! What moves one message between a communication's buffer and the far side: the part of a pump that needs no process
//! of its own.

use alloc::boxed::Box;
use alloc::rc::Rc;
use alloc::string::String;

use drystone_component::Side;

use super::channel::Channel;
use crate::far::{Arrival, Far, Traffic, count};
use crate::layout::*;
use crate::protocol::{next, sender};

/// See the head of this file.
pub struct Stream {
    pub far: Box<dyn Far>,
    /// What the far side is to the near one: its server, or its client.
    pub side: Side,
    pub traffic: Rc<Traffic>,
    /// What has come can't be understood: the pump's process will say so.
    broken: Option<String>,
}

impl Stream {
    /// Nothing has been moved yet.
    pub fn new(far: Box<dyn Far>, side: Side, traffic: Rc<Traffic>) -> Stream {
        Stream { far, side, traffic, broken: None }
    }

    /// Passes on the message in the buffer. What the far side leaves of it is still to be dropped.
    pub fn forward(&mut self, channel: &mut Channel) {
        let (number, values) = channel.outgoing();
        count(&self.traffic.sent, &values);
        self.far.send(number, values);
    }

    /// Why what has come at once could not be understood, if so.
    pub fn broken(&mut self) -> Option<String> {
        self.broken.take()
    }

    /// Passes the message in the buffer on within the process that has sent it; `false`: that is left to the pump's
    /// process, as is the end of the communication.
    pub fn push(&mut self, channel: &mut Channel) -> bool {
        let word = channel.word();
        let is_plain = word.flags & !(STREAMS | FOR_CLIENT) == 0 && word.goes_on(channel.interface);
        if !is_plain || !word.is_for(self.side) || !self.far.has_room() {
            return false;
        }
        self.forward(channel);
        channel.drop_buffered();
        true
    }

    /// Puts the next message into the empty buffer within the process that has taken the one before; `false`: there is
    /// none, or it isn't plain, which is left to the pump's process.
    pub fn refill(&mut self, channel: &mut Channel) -> bool {
        let (word, interface) = (channel.word(), channel.interface);
        if word.flags != STREAMS {
            return false;
        }
        let Arrival::Message(message) = self.far.receive() else { return false };
        if message >= interface.messages.length || sender(interface, message as u32) != self.side {
            return false;
        }
        let Some(state) = next(interface, word.state, message as u32) else { return false };
        // SAFETY: the buffer is empty, and then holds the message.
        unsafe {
            if let Err(why) = channel.fill(message, &self.traffic, |filling| self.far.take(filling)) {
                self.broken = Some(why);
                return false;
            }
            channel.put(message, state, self.side);
        }
        true
    }
}
