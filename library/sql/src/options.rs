//! What BY says about a database.

use drystone_net::secure::Files;

/// See the head of this file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// Connections at most.
    pub connections: usize,
    /// Milliseconds that a statement may take, and that it may wait for a connection.
    pub timeout: u64,
    /// Rows of an answer at most.
    pub rows: usize,
    /// Milliseconds that it waits for another program's lock.
    pub busy: u64,
    /// What is committed is on the disk.
    pub durable: bool,
    /// For TLS to a server.
    pub files: Files,
}
