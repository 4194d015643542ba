//! What a session knows of those that use its connection to NATS.

use std::task::Context;

use async_nats::Message;

use super::open::Open;

/// An exported name, a publisher or a subscription.
pub(super) trait User {
    /// There is a connection now.
    fn opened(&self, _: &Open) {}

    /// The connection is lost, or couldn't be made: why.
    fn lost(&self, _: &str) {}

    /// The program has ended.
    fn end(&self) {}

    /// Takes what has come.
    fn serve(&self, _: &mut Context<'_>) {}

    /// There may be room for more output.
    fn wake(&self) {}

    /// Whether there has to be a connection though nobody waits for one.
    fn needs_connection(&self) -> bool {
        false
    }

    /// Whether it is told of [`beat`](Self::beat)s.
    fn has_beats(&self) -> bool {
        false
    }

    /// [`BEAT`](super::partner::BEAT) has passed.
    fn beat(&self) {}
}

/// A stream of bytes between this program and another one.
pub(super) trait Stream {
    /// There is a connection now, or it is known where a name is served.
    fn ask(&self);

    /// A message has come for it.
    fn receive(&self, message: &Message);

    /// Sends what there is, as far as there is room.
    fn write(&self) -> Written;

    /// [`BEAT`](super::partner::BEAT) has passed.
    fn beat(&self);

    /// Nothing can go over it any more, for this reason.
    fn lose(&self, why: &str);

    /// Whether nothing can go over it any more.
    fn is_over(&self) -> bool;
}

/// What became of the bytes that were to be written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// All are on their way.
    All,
    /// The other side has to take some first.
    Unheard,
    /// The engine has to take some first.
    Full,
}
