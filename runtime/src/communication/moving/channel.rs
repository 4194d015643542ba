//! A communication's word and buffer, for what moves its messages; and the process that does so, as one of its sides.

use alloc::string::String;
use core::slice;

use drystone_component::{Interface, Side};

use crate::communication::{drop_buffered, drop_first, payload};
use crate::far::{Filling, Outgoing, Traffic, count};
use crate::layout::*;

/// A live communication, and its interface.
///
/// *What it stands for*: at home; the communication has this interface, is live as long as this is used, and nobody
/// else has a reference into its buffer. It says nothing about what is in the buffer: the word does.
pub struct Channel {
    pub(super) worker: *mut Worker,
    pub(super) communication: *mut Communication,
    pub(super) interface: &'static Interface,
}

impl Channel {
    /// # Safety
    /// What this stands for holds.
    pub unsafe fn new(
        worker: *mut Worker,
        communication: *mut Communication,
        interface: &'static Interface,
    ) -> Channel {
        Channel { worker, communication, interface }
    }

    /// How it stands now.
    #[inline]
    pub fn word(&self) -> CommunicationWord {
        // SAFETY: the communication is live.
        unsafe { (*self.communication).word }
    }

    /// Marks it as a stream: see [`STREAMS`].
    pub fn mark_stream(&mut self) {
        // SAFETY: the communication is live.
        unsafe { (*self.communication).word.flags |= STREAMS }
    }

    /// Whether the side that waits does so for room.
    pub fn waits_for_room(&self) -> bool {
        // SAFETY: the communication is live, and so is its waiter.
        unsafe {
            let waiter = (*self.communication).waiter;
            !waiter.is_null() && (*waiter).status == ROOM
        }
    }

    /// The message in the buffer, and its number.
    ///
    /// # Panics
    /// There is none.
    pub fn outgoing(&mut self) -> (usize, Outgoing<'_>) {
        let number = usize::from(self.word().tag).wrapping_sub(1);
        let message = &self.interface.messages.get()[number];
        // SAFETY: the buffer holds this message.
        (number, unsafe { Outgoing::new(self.worker, payload(self.communication), message) })
    }

    /// Drops what the message in the buffer still owns: it has been taken.
    pub fn drop_first(&mut self) {
        // SAFETY: the communication is live, and of this interface.
        unsafe { drop_first(self.worker, self.communication, self.interface) }
    }

    /// Drops the message in the buffer, or what is left of it.
    pub fn drop_buffered(&mut self) {
        // SAFETY: the communication is live and of this interface.
        unsafe { drop_buffered(self.worker, self.communication, self.interface) }
    }

    /// Fills the buffer with a message's values, and counts them.
    ///
    /// # Errors
    /// Those of `fill`, or it gives too few values. The buffer owns nothing then.
    ///
    /// # Safety
    /// The buffer owns nothing.
    pub unsafe fn fill(
        &mut self,
        message: usize,
        traffic: &Traffic,
        fill: impl FnOnce(&mut Filling<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let message = &self.interface.messages.get()[message];
        // SAFETY: the buffer has a word for each parameter of each message, and owns nothing.
        let mut filling = unsafe {
            let words = slice::from_raw_parts_mut(payload(self.communication), message.parameters.length);
            Filling::new(self.worker, words, message)
        };
        fill(&mut filling)?;
        count(&traffic.received, &filling.values().ok_or("a message lacks values")?);
        Ok(())
    }

    /// A message was put into the empty buffer by one side, which leads to a state.
    ///
    /// # Safety
    /// The buffer holds that message, whole.
    pub unsafe fn put(&mut self, message: usize, state: u16, from: Side) {
        let word = self.word();
        let receiver = if from == Side::Server { FOR_CLIENT } else { 0 };
        let (tag, flags) = (message as u16 + 1, word.flags | receiver);
        // SAFETY: the communication is live; at home.
        unsafe {
            (*self.worker).messages += 1;
            (*self.communication).word = CommunicationWord { state, seen: word.state, tag, flags };
        }
    }
}

/// A process, and the side of a communication that it is.
///
/// *What it stands for*: what its channel does; the process is that side, and returns to the scheduler after it has
/// used this.
pub struct Party {
    pub(super) channel: Channel,
    pub(super) process: *mut Process,
    pub(super) side: Side,
}

impl Party {
    /// # Safety
    /// What this stands for holds.
    pub unsafe fn new(channel: Channel, process: *mut Process, side: Side) -> Party {
        Party { channel, process, side }
    }
}
