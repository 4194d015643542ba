//! The two ends of a connection.

/// The end of a connection. Both ends may ask for communications, and must number them differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// This side has made the connection.
    Dialer = 0,
    /// The other side has made the connection.
    Acceptor = 1,
}
