//! An event as a message of NATS: docs/src/bindings-nats.md describes it for programs in other languages.

/// It begins with "DryE".
const MAGIC: [u8; 4] = *b"DryE";

/// In the place of an event's number in the interface.
const OVER: u32 = u32::MAX;
const ALIVE: u32 = u32::MAX - 1;

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An event, by its number in the interface.
    Message(u32),
    /// The publisher has ended.
    Over,
    /// The publisher is still there.
    Alive,
}

/// See the head of this file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EventMessage<'a> {
    pub(super) kind: Kind,
    /// The publisher, by a number that it has chosen.
    pub(super) publisher: u64,
    /// How many events it has sent before.
    pub(super) number: u64,
    /// The interface's.
    pub(super) fingerprint: [u8; 16],
    /// The values of the event.
    pub(super) values: &'a [u8],
}

impl<'a> EventMessage<'a> {
    /// Reads bytes that may be anything; `None`: they are no such message.
    pub(super) fn read(payload: &'a [u8]) -> Option<EventMessage<'a>> {
        let (magic, rest) = payload.split_first_chunk::<4>()?;
        let (kind, rest) = rest.split_first_chunk::<4>()?;
        let (publisher, rest) = rest.split_first_chunk::<8>()?;
        let (number, rest) = rest.split_first_chunk::<8>()?;
        let (fingerprint, values) = rest.split_first_chunk::<16>()?;
        let kind = match u32::from_be_bytes(*kind) {
            OVER => Kind::Over,
            ALIVE => Kind::Alive,
            number => Kind::Message(number),
        };
        let (publisher, number) = (u64::from_be_bytes(*publisher), u64::from_be_bytes(*number));
        let is_fit = *magic == MAGIC && number < u64::MAX;
        is_fit.then_some(EventMessage { kind, publisher, number, fingerprint: *fingerprint, values })
    }

    /// The bytes before the values.
    pub(super) fn head(&self) -> Vec<u8> {
        let kind = match self.kind {
            Kind::Message(number) => number,
            Kind::Over => OVER,
            Kind::Alive => ALIVE,
        };
        let mut head = Vec::with_capacity(64);
        head.extend_from_slice(&MAGIC);
        head.extend_from_slice(&kind.to_be_bytes());
        head.extend_from_slice(&self.publisher.to_be_bytes());
        head.extend_from_slice(&self.number.to_be_bytes());
        head.extend_from_slice(&self.fingerprint);
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_as_they_were_sent_and_others_do_not() {
        for kind in [Kind::Message(3), Kind::Over, Kind::Alive] {
            let message =
                EventMessage { kind, publisher: 1 << 60, number: 9, fingerprint: [7; 16], values: b"abc" };
            let mut payload = message.head();
            let head = payload.len();
            payload.extend_from_slice(b"abc");
            assert_eq!(EventMessage::read(&payload), Some(message));
            for length in 0..head {
                assert_eq!(EventMessage::read(&payload[..length]), None);
            }
            payload[0] ^= 1;
            assert_eq!(EventMessage::read(&payload), None);
        }
    }
}
