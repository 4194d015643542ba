//! Where a server is.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::work::Outcome;

/// See the head of this file.
#[derive(Clone)]
pub enum Address {
    /// `host:port`
    Tcp(SocketAddr),
    /// `unix:path`
    Unix(PathBuf),
}

impl Address {
    pub fn parse(text: &str) -> Outcome<Address> {
        match text.strip_prefix("unix:") {
            Some(path) => Ok(Address::Unix(path.into())),
            None => Ok(Address::Tcp(text.parse()?)),
        }
    }
}
