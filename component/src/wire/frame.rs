//! Frames: a header of twelve bytes, and a body. A connection is a sequence of them.

use alloc::vec::Vec;

/// The version of the protocol.
pub(super) const VERSION: u16 = 1;

/// In the first frame, in place of a communication's number: "Drys".
pub(super) const MAGIC: u32 = 0x4472_7973;

/// Bytes of a header.
pub(super) const HEADER: usize = 12;

/// The greatest length of the body of a frame that is not a message.
pub(super) const CONTROL: usize = 256 * 1024;

/// The kind of a frame, with its number on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Hello = 1,
    Open = 2,
    Accepted = 3,
    Message = 4,
    Credit = 5,
    Close = 6,
    Describe = 7,
    Description = 8,
    Ping = 9,
    Pong = 10,
    Farewell = 11,
    /// Belongs to the description that follows.
    Forms = 12,
}

impl Kind {
    const ALL: [Kind; 12] = [
        Kind::Hello,
        Kind::Open,
        Kind::Accepted,
        Kind::Message,
        Kind::Credit,
        Kind::Close,
        Kind::Describe,
        Kind::Description,
        Kind::Ping,
        Kind::Pong,
        Kind::Farewell,
        Kind::Forms,
    ];

    pub(super) fn of(number: u16) -> Option<Kind> {
        Kind::ALL.get(usize::from(number).wrapping_sub(1)).copied()
    }
}

/// The reasons for which a communication is closed, as the number of a `Close` frame.
pub(super) mod reason {
    /// The protocol allows it.
    pub const ORDERLY: u16 = 0;
    /// An error; the body describes it.
    pub const LOST: u16 = 1;
    /// The communication was never begun; the body has the reason.
    pub const REFUSED: u16 = 2;
    /// The communication was never begun, because the server's interface differs; the body describes that interface.
    pub const DIFFERS: u16 = 3;
}

/// The header of a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    /// The length of the body in bytes.
    pub length: u32,
    /// A [`Kind`], if this version knows it.
    pub kind: u16,
    /// The number of a message; the meaning in other frames depends on the kind.
    pub number: u16,
    /// The number of the communication; the meaning depends on the kind.
    pub communication: u32,
}

impl Header {
    pub(super) fn read(bytes: &[u8; HEADER]) -> Header {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *bytes;
        Header {
            length: u32::from_be_bytes([a, b, c, d]),
            kind: u16::from_be_bytes([e, f]),
            number: u16::from_be_bytes([g, h]),
            communication: u32::from_be_bytes([i, j, k, l]),
        }
    }

    pub(super) fn bytes(&self) -> [u8; HEADER] {
        let [a, b, c, d] = self.length.to_be_bytes();
        let [e, f] = self.kind.to_be_bytes();
        let [g, h] = self.number.to_be_bytes();
        let [i, j, k, l] = self.communication.to_be_bytes();
        [a, b, c, d, e, f, g, h, i, j, k, l]
    }
}

/// Bytes to be sent. Sent bytes are removed once all, or many, have been sent.
#[derive(Debug, Default)]
pub(super) struct Output {
    bytes: Vec<u8>,
    sent: usize,
}

/// An empty buffer with more capacity is freed.
const KEPT: usize = 16 * 1024;

impl Output {
    /// The bytes still to be sent.
    pub(super) fn rest(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    /// The memory in use, in bytes.
    pub(super) fn held(&self) -> usize {
        self.bytes.capacity()
    }

    /// Notes that `count` more bytes have been sent.
    pub(super) fn sent(&mut self, count: usize) {
        self.sent += count.min(self.bytes.len() - self.sent);
        if self.sent == self.bytes.len() {
            self.sent = 0;
            self.bytes.clear();
            if self.bytes.capacity() > KEPT {
                self.bytes = Vec::new();
            }
        } else if self.sent > self.bytes.len() / 2 && self.sent > KEPT {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// Appends a frame; `body` appends the frame's body. The result is the body's length. If `body` fails, or the body
    /// has more than `largest` bytes, nothing is appended.
    pub(super) fn frame<E>(
        &mut self,
        kind: Kind,
        number: u16,
        communication: u32,
        largest: usize,
        body: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Result<usize, usize>, E> {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; HEADER]);
        let filled = body(&mut self.bytes);
        let length = self.bytes.len() - at - HEADER;
        if filled.is_err() || length > largest {
            self.bytes.truncate(at);
            return filled.map(|()| Err(length));
        }
        let header = Header { length: length as u32, kind: kind as u16, number, communication };
        self.bytes[at..at + HEADER].copy_from_slice(&header.bytes());
        Ok(Ok(length))
    }

    /// Appends a frame with the given body.
    pub(super) fn control(&mut self, kind: Kind, number: u16, communication: u32, body: &[u8]) {
        let header = Header { length: body.len() as u32, kind: kind as u16, number, communication };
        self.bytes.extend_from_slice(&header.bytes());
        self.bytes.extend_from_slice(body);
    }
}
