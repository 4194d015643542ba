//! A datagram: a head of three words, and the parameters of a message as XDR.

use drystone_net::xdr::{Reader, write_word};

/// The message of a refusal; no interface has so many.
pub(super) const REFUSED: u32 = u32::MAX;

/// How a datagram begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Of which interface its messages are.
    pub(super) form: u32,
    /// The client's number for its request; the reply has it, too.
    pub(super) id: u32,
    /// The number of the message in the interface, or [`REFUSED`].
    pub(super) message: u32,
}

impl Head {
    /// The head of a datagram, and what follows it.
    pub(super) fn read(bytes: &[u8]) -> Option<(Head, &[u8])> {
        let mut reader = Reader(bytes);
        let head = Head { form: reader.word()?, id: reader.word()?, message: reader.word()? };
        Some((head, reader.0))
    }

    /// A datagram that so far has nothing else.
    pub(super) fn written(self) -> Vec<u8> {
        let mut out = Vec::new();
        [self.form, self.id, self.message].into_iter().for_each(|word| write_word(&mut out, word));
        out
    }
}
