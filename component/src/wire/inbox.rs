//! Messages of one communication that were received and not yet taken, in one buffer that is reused.

use alloc::vec::Vec;

use super::frame::{HEADER, Header};

/// An empty buffer with more capacity is freed.
const KEPT: usize = 4 * 1024;

#[derive(Debug, Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    /// The offset of the first message.
    first: usize,
    /// The number of complete messages.
    whole: u32,
    /// Whether a further message has been received in part.
    coming: bool,
}

impl Inbox {
    /// Begins a message, of which the header has been received.
    pub(super) fn begin(&mut self, header: &Header) {
        self.coming = true;
        self.make_room();
        self.bytes.extend_from_slice(&header.bytes());
    }

    /// Appends `count` complete messages, as received: with their headers.
    pub(super) fn push(&mut self, frames: &[u8], count: u32) {
        self.make_room();
        self.bytes.extend_from_slice(frames);
        self.whole += count;
    }

    fn make_room(&mut self) {
        if self.first > KEPT && self.first > self.bytes.len() / 2 {
            self.bytes.drain(..self.first);
            self.first = 0;
        }
    }

    /// Appends further bytes of the message that was begun.
    pub(super) fn append(&mut self, bytes: &[u8]) {
        if self.coming {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Completes the message that was begun.
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
        (self.whole != 0).then(|| self.header().number)
    }

    /// Takes the first message, which must exist: hands its bytes to `values`. The result is that of `values`, and the
    /// body's length.
    #[inline]
    pub(super) fn take<T>(&mut self, values: impl FnOnce(&[u8]) -> T) -> (T, usize) {
        let length = self.header().length as usize;
        let begin = self.first + HEADER;
        let taken = values(&self.bytes[begin..][..length]);
        self.whole -= 1;
        self.first = begin + length;
        if self.first == self.bytes.len() {
            self.first = 0;
            self.bytes.clear();
            if self.bytes.capacity() > KEPT {
                self.bytes = Vec::new();
            }
        }
        (taken, length)
    }

    /// The memory in use, in bytes.
    pub(super) fn held(&self) -> usize {
        self.bytes.capacity()
    }

    /// Discards everything, including the rest of a message received in part.
    pub(super) fn clear(&mut self) {
        *self = Inbox::default();
    }

    fn header(&self) -> Header {
        Header::read(self.bytes[self.first..].first_chunk().expect("each message has its header"))
    }
}
