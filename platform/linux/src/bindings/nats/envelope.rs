//! What stands before the bytes in each message of a line: docs/src/bindings-nats.md has it for those who write
//! clients.

use async_nats::Subject;
use async_nats::message::OutboundMessage;

/// What it begins with: "DryN".
const MAGIC: [u8; 4] = *b"DryN";

/// Bytes before those of the line.
pub(super) const HEADER: usize = 24;

/// What an envelope is for: the numbers as they are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A client wants a server; with the first bytes of the line.
    Begin = 1,
    /// The next bytes of the line, or none.
    Bytes = 2,
    /// The line is over; a sentence says why.
    Over = 3,
    /// The program is still there. It belongs to no line.
    Alive = 4,
}

/// An envelope as it has come.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Envelope<'a> {
    pub(super) kind: Kind,
    /// How many bytes of the line were sent before these.
    pub(super) sent: u64,
    /// How many bytes the sender has received over the line.
    pub(super) received: u64,
    pub(super) bytes: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Of what may be anything; `None`: it is none.
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

    /// As a message to a subject, from another, which is told when nobody is there.
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
