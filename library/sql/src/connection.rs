//! A connection to some database.

use crate::answer::Answer;
use crate::failure::Failure;
use crate::request::Request;

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
    /// Carries a request out at once, only if it is certainly short; `None`: it did nothing.
    fn now(&mut self, request: &Request<'_>) -> Option<Answer>;

    /// Carries a request out. It may take long.
    fn run(&mut self, request: &Request<'_>) -> Answer;

    /// How it is after a request.
    fn state(&self) -> State;
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
