//! A client from elsewhere, as its process has it: a pump, or a visit.

use alloc::boxed::Box;

use super::Outcome;
use super::channel::Party;
use super::stream::Stream;

/// A client from elsewhere.
pub struct Client {
    /// How it comes.
    pub comes: Box<dyn Comes>,
    /// It waits for a connection, as a component of this domain would.
    pub waits: bool,
}

/// What takes part in a communication in the place of a client from elsewhere.
pub trait Comes {
    /// Moves or exchanges what messages it can. The process has to return after it.
    fn go_on(&mut self, party: Party) -> Outcome;

    /// Whether the client wants nothing any more, and nothing of what it has sent is left.
    fn is_gone(&mut self) -> bool;

    /// There is no server for it, or no more.
    fn near_is_gone(&mut self) -> Outcome;

    /// What moves its messages, if they are moved.
    fn stream(&mut self) -> Option<&mut Stream> {
        None
    }
}
