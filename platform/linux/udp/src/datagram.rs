//! The format of datagrams: a head of three words, then the parameters of a message as XDR.

use drystone_net::xdr::{Reader, write_word};

/// The message number of a refusal, which no interface has.
pub(super) const REFUSED: u32 = u32::MAX;

/// The head of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The interface's number.
    pub(super) form: u32,
    /// The client's number for its request, which the reply repeats.
    pub(super) id: u32,
    /// The number of the message in the interface, or [`REFUSED`].
    pub(super) message: u32,
}

impl Head {
    /// Reads the head of a datagram, and gives the rest; `None`: it is too short.
    pub(super) fn read(bytes: &[u8]) -> Option<(Head, &[u8])> {
        let mut reader = Reader(bytes);
        let head = Head { form: reader.word()?, id: reader.word()?, message: reader.word()? };
        Some((head, reader.0))
    }

    /// A datagram that consists of the head.
    pub(super) fn written(self) -> Vec<u8> {
        let mut out = Vec::new();
        [self.form, self.id, self.message].into_iter().for_each(|word| write_word(&mut out, word));
        out
    }
}
