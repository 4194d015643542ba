//! A connection to some database.

use crate::answer::Answer;
use crate::failure::Failure;
use crate::request::{Asked, Request};

/// A database to which connections are made, on any thread.
pub trait Database: Send + Sync + 'static {
    /// A new connection. It may take long.
    ///
    /// # Errors
    /// There is none.
    fn open(&self) -> Result<Box<dyn Connection>, Failure>;
}

/// See the head of this file.
pub trait Connection: Send {
    /// Carries a request out at once, only if it is certainly short.
    fn now(&mut self, request: &Request<'_>) -> Tried;

    /// Carries a request out. It may take long.
    fn run(&mut self, request: &Request<'_>) -> Answer;

    /// Carries out requests that are short writes ([`Tried::Write`]), together if it can: each is done as a whole or
    /// not at all, as if it were alone. It answers the first ones, at least one.
    fn write(&mut self, all: &[Asked]) -> Vec<Answer>;

    /// How it is after a request.
    fn state(&self) -> State;
}

/// Carries a request out by itself.
pub fn alone(connection: &mut dyn Connection, asked: &Asked) -> Answer {
    asked.read().map(|request| connection.run(&request)).into()
}

/// What has become of a request that was to be carried out at once.
pub enum Tried {
    Done(Answer),
    /// Nothing: it may take long.
    Long,
    /// Nothing: it is short, and a transaction of its own, which waits for the disk.
    Write,
}

/// How a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Anybody may use it.
    Free,
    /// It is its client's until the transaction's end.
    InTransaction,
    /// Nobody can use it any more.
    Broken,
}
