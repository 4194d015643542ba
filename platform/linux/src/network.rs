//! Network: connections over TCP. `Listen` and `Dial` take `host:port`, `:port` or `tcp://host:port`. Without a host,
//! `Listen` means all addresses of this machine, and `Dial` means this machine. A helper thread looks up host names, so
//! that no other process waits. `Dial` tries a host's addresses one after another.

mod address;
mod connection;
mod input;
mod listener;
mod net;
mod output;

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::Poll;
use std::vec;

use drystone_runtime::native::{Caller, Part};
use mio::net::{TcpListener, TcpStream};

use crate::interfaces::network::{DialAnswer, ListenAnswer, NetworkLater};
use address::Address;
use connection::Connection;
use drystone_net::place::Search;
use drystone_net::socket::Socket;
use drystone_reactor::reason;
use drystone_reactor::{Direction, Errand};
use listener::Listening;
pub(crate) use net::Net;

/// A client of Network.
pub(crate) struct NetworkClient {
    net: Rc<Net>,
    step: Step,
}

/// The state of its request.
enum Step {
    /// There is none.
    Idle,
    /// A helper thread looks up a name.
    LookUp { search: Search, purpose: Purpose },
    /// The kernel makes a connection. If it fails, the next address is tried.
    Connecting { socket: Rc<Socket>, others: vec::IntoIter<SocketAddr> },
    /// It has succeeded.
    Made(Part),
    /// It has failed.
    Failed(io::Error),
}

/// The request that addresses are looked up for.
#[derive(Clone, Copy, PartialEq)]
enum Purpose {
    Listen,
    Dial,
}

impl NetworkClient {
    pub(crate) fn new(net: Rc<Net>) -> NetworkClient {
        NetworkClient { net, step: Step::Idle }
    }

    fn begin(&mut self, caller: &Caller, text: &[u8], purpose: Purpose) -> Step {
        let begun = || -> io::Result<Step> {
            let host = if purpose == Purpose::Listen { "0.0.0.0" } else { "127.0.0.1" };
            let address = Address::read(text, host)?;
            if let Some(address) = address.numeric() {
                return self.go(caller, vec![address], purpose);
            }
            let search = Errand::begin(&self.net.reactor, "name lookup", move || address.look_up())?;
            self.net.reactor.wait_for(caller.waiter(), Some((search.source(), Direction::Read)), None);
            Ok(Step::LookUp { search, purpose })
        };
        begun().unwrap_or_else(Step::Failed)
    }

    fn go(&self, caller: &Caller, addresses: Vec<SocketAddr>, purpose: Purpose) -> io::Result<Step> {
        match purpose {
            Purpose::Dial => self.dial(caller, addresses.into_iter(), io::Error::other("No address")),
            Purpose::Listen => {
                let mut error = io::Error::other("No address");
                for address in addresses {
                    match TcpListener::bind(address).and_then(|l| Listening::new(self.net.clone(), l)) {
                        Ok(listening) => return Ok(Step::Made(Part::new(self.net.listener, listening))),
                        Err(e) => error = e,
                    }
                }
                Err(error)
            }
        }
    }

    /// Tries the next address. If there is none, fails with the last error.
    fn dial(
        &self,
        caller: &Caller,
        mut others: vec::IntoIter<SocketAddr>,
        mut error: io::Error,
    ) -> io::Result<Step> {
        for address in others.by_ref() {
            match TcpStream::connect(address).and_then(|stream| Socket::new(self.net.reactor.clone(), stream))
            {
                Ok(socket) => {
                    let source = Some((socket.source(), Direction::Write));
                    self.net.reactor.wait_for(caller.waiter(), source, None);
                    return Ok(Step::Connecting { socket, others });
                }
                Err(e) => error = e,
            }
        }
        Err(error)
    }

    fn resume(&self, caller: &Caller, step: Step) -> io::Result<Step> {
        match step {
            Step::LookUp { search, purpose } => match search.result() {
                Some(addresses) => self.go(caller, addresses?, purpose),
                None => {
                    let place = Some((search.source(), Direction::Read));
                    self.net.reactor.wait_for(caller.waiter(), place, None);
                    Ok(Step::LookUp { search, purpose })
                }
            },
            Step::Connecting { socket, others } => match socket.connected() {
                Some(Ok(())) => Ok(Step::Made(Part::new(self.net.connection, Connection::new(socket)))),
                Some(Err(error)) => self.dial(caller, others, error),
                None => {
                    let place = Some((socket.source(), Direction::Write));
                    self.net.reactor.wait_for(caller.waiter(), place, None);
                    Ok(Step::Connecting { socket, others })
                }
            },
            step => Ok(step),
        }
    }

    /// Handles a request. It gives a component if it succeeds.
    fn ask(&mut self, caller: &Caller, address: &[u8], purpose: Purpose) -> Poll<io::Result<Part>> {
        let step = match std::mem::replace(&mut self.step, Step::Idle) {
            Step::Idle => self.begin(caller, address, purpose),
            step => self.resume(caller, step).unwrap_or_else(Step::Failed),
        };
        match step {
            Step::Made(part) => Poll::Ready(Ok(part)),
            Step::Failed(error) => Poll::Ready(Err(error)),
            step => {
                self.step = step;
                Poll::Pending
            }
        }
    }
}

impl NetworkLater for NetworkClient {
    fn listen(&mut self, caller: &Caller, address: &[u8]) -> Poll<ListenAnswer<'_>> {
        self.ask(caller, address, Purpose::Listen).map(|made| match made {
            Ok(x) => ListenAnswer::Listening { x },
            Err(error) => ListenAnswer::Failed { reason: reason(&error).into() },
        })
    }

    fn dial(&mut self, caller: &Caller, address: &[u8]) -> Poll<DialAnswer<'_>> {
        self.ask(caller, address, Purpose::Dial).map(|made| match made {
            Ok(c) => DialAnswer::Connected { c },
            Err(error) => DialAnswer::Failed { reason: reason(&error).into() },
        })
    }
}
