//! Rings: a queue of messages from a handler to its application.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::change::Trouble;

/// Bytes that each message takes besides its own, as on Linux.
const HEAD: usize = 8;

/// A queue of messages, bounded in bytes.
#[derive(Debug)]
pub struct Ring {
    messages: VecDeque<Vec<u8>>,
    room: usize,
}

impl Ring {
    pub(super) fn new(bytes: usize) -> Ring {
        // On Linux a ring is never wholly full.
        Ring { messages: VecDeque::new(), room: bytes.saturating_sub(1) }
    }

    fn cost(message: &[u8]) -> usize {
        HEAD + message.len().next_multiple_of(8)
    }

    /// Appends a message, if there is room.
    pub fn say(&mut self, message: &[u8]) -> Result<(), Trouble> {
        self.room = self.room.checked_sub(Self::cost(message)).ok_or(Trouble::NoSpace)?;
        self.messages.push_back(message.to_vec());
        Ok(())
    }

    /// Takes the first message.
    pub fn hear(&mut self) -> Option<Vec<u8>> {
        let message = self.messages.pop_front()?;
        self.room += Self::cost(&message);
        Some(message)
    }
}
