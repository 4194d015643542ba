//! Messages of one communication that have come and are not yet taken: one buffer, which is used again and again.

use alloc::vec::Vec;

/// What stands before each message: its length and its number.
const RECORD: usize = 8;

/// An empty buffer that is larger is given back.
const KEPT: usize = 4 * 1024;

#[derive(Debug, Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    /// Where the first message begins.
    first: usize,
    /// How many messages are whole.
    whole: u32,
    /// Whether one more has begun to come.
    coming: bool,
}

impl Inbox {
    /// A message begins to come.
    pub(super) fn begin(&mut self, number: u16, length: u32) {
        self.coming = true;
        if self.first > KEPT && self.first > self.bytes.len() / 2 {
            self.bytes.drain(..self.first);
            self.first = 0;
        }
        self.bytes.extend_from_slice(&length.to_ne_bytes());
        self.bytes.extend_from_slice(&u32::from(number).to_ne_bytes());
    }

    /// More of its bytes have come.
    pub(super) fn append(&mut self, bytes: &[u8]) {
        if self.coming {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// All of them have.
    pub(super) fn end(&mut self) {
        self.whole += u32::from(self.coming);
        self.coming = false;
    }

    /// Whether there is no message.
    pub(super) fn is_empty(&self) -> bool {
        self.whole == 0
    }

    /// The number of the first message.
    pub(super) fn number(&self) -> Option<u16> {
        (self.whole != 0).then(|| self.word(self.first + 4) as u16)
    }

    /// The bytes of the first message; none if there is no message.
    pub(super) fn payload(&self) -> &[u8] {
        if self.is_empty() { &[] } else { &self.bytes[self.first + RECORD..][..self.length()] }
    }

    /// The first message has been taken; gives its length.
    pub(super) fn pop(&mut self) -> usize {
        let length = self.length();
        self.whole -= 1;
        self.first += RECORD + length;
        if self.first == self.bytes.len() {
            self.first = 0;
            self.bytes.clear();
            if self.bytes.capacity() > KEPT {
                self.bytes = Vec::new();
            }
        }
        length
    }

    /// Nobody will take what is here, nor the rest of what has begun to come.
    pub(super) fn clear(&mut self) {
        *self = Inbox::default();
    }

    fn length(&self) -> usize {
        self.word(self.first) as usize
    }

    fn word(&self, at: usize) -> u32 {
        u32::from_ne_bytes(*self.bytes[at..].first_chunk().expect("each message has its record"))
    }
}
