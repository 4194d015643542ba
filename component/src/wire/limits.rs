//! The limits that one end of a connection sets for its peer.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::xdr::{Reader, put_u32};

/// The limits of one end. [`Limits::sum`] bounds the memory that the peer can make this end hold, see
/// `docs/src/wire.md`.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Messages of one communication that the other side may send before one has been taken; at least 1.
    pub messages: u32,
    /// Bytes of such messages; the last message may exceed the limit. At least 1.
    pub bytes: u32,
    /// Bytes of one message. Also bounds by how many bytes all communications together may exceed their limits.
    pub largest: u32,
    /// Communications that the other side may begin.
    pub communications: u32,
    /// Bytes that all communications together may send before any have been taken. One half is divided evenly; the
    /// other half goes to the communications that use up their part.
    pub sum: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            messages: 16,
            bytes: 256 * 1024,
            largest: 64 * 1024 * 1024,
            communications: 65536,
            sum: 256 * 1024 * 1024,
        }
    }
}

impl Limits {
    /// The limits as the peer is told them.
    pub(super) fn hello(&self) -> Hello {
        let part = self.sum / 2 / u64::from(self.communications.max(1));
        Hello {
            messages: self.messages.max(1),
            bytes: u32::try_from(part).unwrap_or(u32::MAX).min(self.bytes).max(1),
            largest: self.largest,
            communications: self.communications,
        }
    }

    /// By how many bytes one communication's credit may grow, if `wanted` more are wanted on top of `credit`. All
    /// communications together have `all`; growth stops where they have half of the sum.
    pub(super) fn more(&self, wanted: i64, credit: i64, all: u64) -> i64 {
        let left = i64::try_from((self.sum / 2).saturating_sub(all)).unwrap_or(i64::MAX);
        wanted.min(i64::from(self.bytes) - credit).min(left).max(0)
    }
}

/// The limits that an end tells its peer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hello {
    /// The credit, in messages and bytes, with which a communication begins.
    pub messages: u32,
    pub bytes: u32,
    pub largest: u32,
    pub communications: u32,
}

impl Hello {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for word in [self.messages, self.bytes, self.largest, self.communications] {
            put_u32(&mut body, word);
        }
        body
    }

    pub(super) fn decode(body: &[u8]) -> Result<Hello, String> {
        let mut reader = Reader::new(body);
        let mut next = || reader.word("the hello");
        let hello = Hello { messages: next()?, bytes: next()?, largest: next()?, communications: next()? };
        match hello.messages == 0 || hello.bytes == 0 {
            true => Err("the other side takes no messages".to_string()),
            false => Ok(hello),
        }
    }
}
