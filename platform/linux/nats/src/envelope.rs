//! The header of each message of a stream between two programs: docs/src/bindings-nats.md describes it for programs in
//! other languages.

use async_nats::Subject;
use async_nats::message::OutboundMessage;

/// It begins with "DryN".
const MAGIC: [u8; 4] = *b"DryN";

/// Bytes of the header.
pub(super) const HEADER: usize = 24;

/// What a message is for, with the numbers that are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A client asks for a server, with the first bytes of the stream.
    Begin = 1,
    /// The next bytes of the stream, or none.
    Bytes = 2,
    /// The stream is over; the bytes are a sentence that says why.
    Over = 3,
    /// A beat: the program is still there. It belongs to no stream.
    Alive = 4,
}

/// A message of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Envelope<'a> {
    pub(super) kind: Kind,
    /// How many bytes of the stream were sent before these.
    pub(super) sent: u64,
    /// How many bytes of the other direction the sender has received.
    pub(super) received: u64,
    pub(super) bytes: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Reads bytes that may be anything; `None`: they are no such message.
    pub(super) fn read(payload: &'a [u8]) -> Option<Envelope<'a>> {
        let (magic, rest) = payload.split_first_chunk::<4>()?;
        let (kind, rest) = rest.split_first_chunk::<4>()?;
        let (sent, rest) = rest.split_first_chunk::<8>()?;
        let (received, bytes) = rest.split_first_chunk::<8>()?;
        let kind = match u32::from_be_bytes(*kind) {
            1 => Kind::Begin,
            2 => Kind::Bytes,
            3 => Kind::Over,
            4 => Kind::Alive,
            _ => return None,
        };
        let (sent, received) = (u64::from_be_bytes(*sent), u64::from_be_bytes(*received));
        (*magic == MAGIC).then_some(Envelope { kind, sent, received, bytes })
    }

    /// A message of NATS to a subject, from another one, which is told if nobody listens there.
    pub(super) fn to(&self, subject: &Subject, from: &Subject) -> OutboundMessage {
        let mut payload = Vec::with_capacity(HEADER + self.bytes.len());
        payload.extend_from_slice(&MAGIC);
        payload.extend_from_slice(&(self.kind as u32).to_be_bytes());
        payload.extend_from_slice(&self.sent.to_be_bytes());
        payload.extend_from_slice(&self.received.to_be_bytes());
        payload.extend_from_slice(self.bytes);
        OutboundMessage {
            subject: subject.clone(),
            reply: Some(from.clone()),
            payload: payload.into(),
            headers: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_come_as_they_were_sent_and_others_do_not() {
        for kind in [Kind::Begin, Kind::Bytes, Kind::Over, Kind::Alive] {
            let envelope = Envelope { kind, sent: 1 << 40, received: 7, bytes: b"abc" };
            let message = envelope.to(&"there".into(), &"here".into());
            assert_eq!(Envelope::read(&message.payload), Some(envelope));
            for length in 0..HEADER {
                assert_eq!(Envelope::read(&message.payload[..length]), None);
            }
            for place in 0..8 {
                let mut other = message.payload.to_vec();
                other[place] ^= 0x80;
                assert_eq!(Envelope::read(&other), None, "{place}");
            }
        }
    }
}
