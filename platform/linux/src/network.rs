//! Network: connections over TCP. `Listen` and `Dial` take `host:port`, `:port` or `tcp://host:port`. Without a host,
//! `Listen` means all addresses of this machine, and `Dial` means this machine. A helper thread looks up host names, so
//! that no other process waits. `Dial` tries a host's addresses one after another, each for ten seconds. A connection
//! whose other machine is gone is lost after half a minute.

mod address;
mod connection;
pub(crate) mod input;
mod listener;
mod net;
pub(crate) mod output;

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::Poll;
use std::time::Instant;

use drystone_net::dial::{Dial, LOOK_UP, NOT_FOUND};
use drystone_net::place::{Addresses, Search};
use drystone_reactor::{Direction, Errand, Reactor, reason};
use drystone_runtime::native::{Caller, Part};
use mio::net::{TcpListener, TcpStream};

use crate::interfaces::network::{DialAnswer, ListenAnswer, NetworkLater};
use address::Address;
use listener::Listening;
pub(crate) use net::Net;

/// A client of Network.
pub(crate) struct NetworkClient {
    net: Rc<Net>,
    /// The state of its request, if there is one.
    step: Option<Step>,
}

enum Step {
    /// A helper thread looks up the name of the address to listen at, until this time at most.
    LookUp(Search, Instant),
    /// A connection is being made.
    Dialing(Dialing),
    Made(Part),
}

/// A connection that is being made, for a process that waits.
struct Dialing {
    reactor: Rc<Reactor>,
    /// It is ready when there is a result.
    source: usize,
    result: Rc<RefCell<Option<Result<TcpStream, String>>>>,
    _dial: Rc<Dial>,
}

impl Dialing {
    fn begin(reactor: &Rc<Reactor>, addresses: Addresses) -> Dialing {
        let (source, result) = (reactor.source(), Rc::<RefCell<_>>::default());
        let dial = Dial::begin(reactor, addresses, |_| Ok(()), {
            let (reactor, result) = (Rc::downgrade(reactor), result.clone());
            move |made| {
                *result.borrow_mut() = Some(made);
                reactor.upgrade().inspect(|reactor| reactor.wake(source, Direction::Read));
            }
        });
        Dialing { reactor: reactor.clone(), source, result, _dial: dial }
    }
}

impl Drop for Dialing {
    fn drop(&mut self) {
        self.reactor.remove(self.source);
    }
}

impl NetworkClient {
    pub(crate) fn new(net: Rc<Net>) -> NetworkClient {
        NetworkClient { net, step: None }
    }

    fn begin_to_dial(&self, text: &[u8]) -> Result<Step, String> {
        let address = Address::read(text, "127.0.0.1")?;
        let addresses = match address.numeric() {
            Some(address) => Addresses::Known(vec![address]),
            None => Addresses::Unknown(Box::new(move || address.look_up())),
        };
        Ok(Step::Dialing(Dialing::begin(&self.net.reactor, addresses)))
    }

    fn begin_to_listen(&self, text: &[u8]) -> Result<Step, String> {
        let address = Address::read(text, "0.0.0.0")?;
        if let Some(address) = address.numeric() {
            return self.listen_at(vec![address]).map(Step::Made);
        }
        let search = Errand::begin(&self.net.reactor, "name lookup", move || address.look_up());
        Ok(Step::LookUp(of(search)?, Instant::now() + LOOK_UP))
    }

    /// Listens at the first address that can be had.
    fn listen_at(&self, addresses: Vec<SocketAddr>) -> Result<Part, String> {
        let mut why = "No address".to_string();
        for address in addresses {
            match TcpListener::bind(address).and_then(|l| Listening::new(self.net.clone(), l)) {
                Ok(listening) => return Ok(Part::new(self.net.listener, listening)),
                Err(error) => why = reason(&error),
            }
        }
        Err(why)
    }

    /// Handles a request, which begins with `begin`. It gives a component if it succeeds.
    fn ask(
        &mut self,
        caller: &Caller,
        begin: impl Fn(&NetworkClient) -> Result<Step, String>,
    ) -> Poll<Result<Part, String>> {
        match self.step.take().map_or_else(|| begin(self), Ok) {
            Err(why) => Poll::Ready(Err(why)),
            Ok(Step::Made(part)) => Poll::Ready(Ok(part)),
            Ok(Step::LookUp(search, until)) => match search.result() {
                Some(found) => Poll::Ready(of(found).and_then(|addresses| self.listen_at(addresses))),
                None if until <= Instant::now() => Poll::Ready(Err(NOT_FOUND.into())),
                None => self.wait(caller, search.source(), Some(until), Step::LookUp(search, until)),
            },
            Ok(Step::Dialing(dialing)) => match dialing.result.take() {
                Some(made) => Poll::Ready(made.and_then(|stream| of(self.net.connection(stream)))),
                None => self.wait(caller, dialing.source, None, Step::Dialing(dialing)),
            },
        }
    }

    /// The process waits for the source, or this time, then this step may be over.
    fn wait(
        &mut self,
        caller: &Caller,
        source: usize,
        until: Option<Instant>,
        step: Step,
    ) -> Poll<Result<Part, String>> {
        self.net.reactor.wait_for(caller.waiter(), Some((source, Direction::Read)), until);
        self.step = Some(step);
        Poll::Pending
    }
}

/// A result with its error in a sentence.
fn of<T>(result: io::Result<T>) -> Result<T, String> {
    result.map_err(|error| reason(&error))
}

impl NetworkLater for NetworkClient {
    fn listen(&mut self, caller: &Caller, address: &[u8]) -> Poll<ListenAnswer<'_>> {
        self.ask(caller, |client| client.begin_to_listen(address)).map(|made| match made {
            Ok(x) => ListenAnswer::Listening { x },
            Err(why) => ListenAnswer::Failed { reason: why.into() },
        })
    }

    fn dial(&mut self, caller: &Caller, address: &[u8]) -> Poll<DialAnswer<'_>> {
        self.ask(caller, |client| client.begin_to_dial(address)).map(|made| match made {
            Ok(c) => DialAnswer::Connected { c },
            Err(why) => DialAnswer::Failed { reason: why.into() },
        })
    }
}
