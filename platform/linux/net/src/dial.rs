//! Dialling by TCP: the addresses that a host's name stands for are tried one after the other.

use std::net::SocketAddr;
use std::rc::Rc;
use std::vec;

use drystone_reactor::{Reactor, reason};
use mio::net::TcpStream;

use crate::alive::keep_alive;
use crate::socket::Socket;

/// Those that haven't been tried, and why the last one was none.
pub struct Addresses {
    left: vec::IntoIter<SocketAddr>,
    why: String,
}

impl Addresses {
    /// All of them. If there are none at all, that is why.
    pub fn new(all: Vec<SocketAddr>, why_none: &str) -> Addresses {
        Addresses { left: all.into_iter(), why: why_none.into() }
    }

    /// Begins with the next one that doesn't fail at once. `None`: all have failed.
    pub fn next<T>(&mut self, begin: impl Fn(SocketAddr) -> Result<T, String>) -> Option<T> {
        for address in self.left.by_ref() {
            match begin(address) {
                Ok(begun) => return Some(begun),
                Err(why) => self.why = why,
            }
        }
        None
    }

    /// The one that was begun with has failed.
    pub fn fail(&mut self, why: String) {
        self.why = why;
    }

    /// Why the last one has failed.
    pub fn why(&self) -> &str {
        &self.why
    }
}

/// Begins to make a connection.
pub fn connect(reactor: &Rc<Reactor>, address: SocketAddr) -> Result<Rc<Socket>, String> {
    let socket = TcpStream::connect(address).and_then(|stream| {
        keep_alive(&stream);
        Socket::new(reactor.clone(), stream)
    });
    socket.map_err(|error| reason(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_tried_in_order_and_the_last_failure_is_why() {
        let address = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let mut addresses = Addresses::new((1..5).map(address).collect(), "there is none");
        let begin = |address: SocketAddr| match address.port() {
            odd if odd % 2 == 1 => Err(format!("not {odd}")),
            even => Ok(even),
        };
        assert_eq!(addresses.next(begin), Some(2));
        assert_eq!(addresses.why(), "not 1");
        addresses.fail("2 has gone".into());
        assert_eq!(addresses.why(), "2 has gone");
        assert_eq!((addresses.next(begin), addresses.next(begin)), (Some(4), None));
        assert_eq!(Addresses::new(Vec::new(), "there is none").why(), "there is none");
    }
}
