//! An event as a message of NATS: docs/src/bindings-nats.md has it for those who write clients.

/// What it begins with: "DryE".
const MAGIC: [u8; 4] = *b"DryE";

/// The numbers of what is no message.
const OVER: u32 = u32::MAX;
const ALIVE: u32 = u32::MAX - 1;

/// What is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A message, by its number in the interface.
    Message(u32),
    /// The speaker has ended.
    Over,
    /// The speaker is still there.
    Alive,
}

/// See the head of this file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Saying<'a> {
    pub(super) what: What,
    /// Whoever says it, by a number that it has chosen.
    pub(super) speaker: u64,
    /// How many it has said before.
    pub(super) number: u64,
    /// Of the interface.
    pub(super) fingerprint: [u8; 16],
    /// The values of a message.
    pub(super) bytes: &'a [u8],
}

impl<'a> Saying<'a> {
    /// Of what may be anything; `None`: it is none.
    pub(super) fn read(payload: &'a [u8]) -> Option<Saying<'a>> {
        let (magic, rest) = payload.split_first_chunk::<4>()?;
        let (what, rest) = rest.split_first_chunk::<4>()?;
        let (speaker, rest) = rest.split_first_chunk::<8>()?;
        let (number, rest) = rest.split_first_chunk::<8>()?;
        let (fingerprint, bytes) = rest.split_first_chunk::<16>()?;
        let what = match u32::from_be_bytes(*what) {
            OVER => What::Over,
            ALIVE => What::Alive,
            number => What::Message(number),
        };
        let number = u64::from_be_bytes(*number);
        let is_fit = *magic == MAGIC && number < u64::MAX;
        let speaker = u64::from_be_bytes(*speaker);
        is_fit.then_some(Saying { what, speaker, number, fingerprint: *fingerprint, bytes })
    }

    /// What stands before the values.
    pub(super) fn head(&self) -> Vec<u8> {
        let what = match self.what {
            What::Message(number) => number,
            What::Over => OVER,
            What::Alive => ALIVE,
        };
        let mut head = Vec::with_capacity(64);
        head.extend_from_slice(&MAGIC);
        head.extend_from_slice(&what.to_be_bytes());
        head.extend_from_slice(&self.speaker.to_be_bytes());
        head.extend_from_slice(&self.number.to_be_bytes());
        head.extend_from_slice(&self.fingerprint);
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sayings_come_as_they_were_sent_and_others_do_not() {
        for what in [What::Message(3), What::Over, What::Alive] {
            let saying = Saying { what, speaker: 1 << 60, number: 9, fingerprint: [7; 16], bytes: b"abc" };
            let mut payload = saying.head();
            let head = payload.len();
            payload.extend_from_slice(b"abc");
            assert_eq!(Saying::read(&payload), Some(saying));
            for length in 0..head {
                assert_eq!(Saying::read(&payload[..length]), None);
            }
            payload[0] ^= 1;
            assert_eq!(Saying::read(&payload), None);
        }
    }
}
