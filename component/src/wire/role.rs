//! The two ends of a connection.

/// Which end of a connection this is: both may ask for communications, and must not give them the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// This side has made the connection.
    Dialer = 0,
    /// This side was found.
    Acceptor = 1,
}
