//! Network: connections over TCP. `Listen` and `Dial` take `host:port`, `:port` or `tcp://host:port`; without a host,
//! `Listen` means every address of this machine and `Dial` this machine. A host's name is looked up by a helper
//! thread, so that nobody else waits for it, and `Dial` tries its addresses one after another.

mod address;
mod input;
mod listener;
mod output;
pub(crate) mod socket;

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::vec;

use drystone_component::Program;
use drystone_runtime::native::{Context, Kind, Messages, Service, Value, Values};
use mio::net::{TcpListener, TcpStream};

use crate::interfaces::{Input, Listener, Network, Output};
use crate::reactor::{Direction, Reactor};
use crate::reason::reason;
use address::Address;
use listener::Listening;
use socket::{Connection, Socket};

/// What all clients of Network need.
pub(crate) struct Net {
    pub(crate) reactor: Rc<Reactor>,
    listener: &'static Kind,
    connection: &'static Kind,
}

impl Net {
    /// An error says which interface the program declares otherwise.
    pub(crate) fn new(program: &'static Program, reactor: Rc<Reactor>) -> Result<Rc<Net>, String> {
        Ok(Rc::new(Net {
            reactor,
            listener: Kind::new(program, "Listener", &[Listener::DECLARATION])?,
            connection: Kind::new(program, "Connection", &[Input::DECLARATION, Output::DECLARATION])?,
        }))
    }

    /// A component for a connection, to be sent.
    fn connection(&self, stream: TcpStream) -> io::Result<Value<'static>> {
        let socket = Socket::new(self.reactor.clone(), stream)?;
        Ok(Value::Component(self.connection, Box::new(Connection(socket))))
    }
}

/// A client of Network.
pub(crate) struct NetworkClient {
    net: Rc<Net>,
    step: Step,
}

/// What it is at.
enum Step {
    /// Nothing: it can take a request.
    Idle,
    /// A helper thread looks up a name.
    LookUp { found: Found, source: Lookup, purpose: Purpose },
    /// The kernel makes a connection; if it fails, there are other addresses.
    Connecting { socket: Rc<Socket>, others: vec::IntoIter<SocketAddr> },
}

/// Where a helper thread leaves what it found.
type Found = Arc<Mutex<Option<io::Result<Vec<SocketAddr>>>>>;

/// What the addresses are for.
#[derive(Clone, Copy, PartialEq)]
enum Purpose {
    Listen,
    Dial,
}

/// A source of the reactor that a helper thread signals.
struct Lookup {
    reactor: Rc<Reactor>,
    source: usize,
}

impl Drop for Lookup {
    fn drop(&mut self) {
        self.reactor.remove(self.source);
    }
}

impl NetworkClient {
    pub(crate) fn new(net: Rc<Net>) -> NetworkClient {
        NetworkClient { net, step: Step::Idle }
    }

    fn begin(&mut self, cx: &mut Context<'_, Network>, text: &[u8], purpose: Purpose) -> io::Result<()> {
        let host = if purpose == Purpose::Listen { "0.0.0.0" } else { "127.0.0.1" };
        let address = Address::read(text, host)?;
        if let Some(address) = address.numeric() {
            return self.go(cx, vec![address], purpose);
        }
        let lookup = Lookup { reactor: self.net.reactor.clone(), source: self.net.reactor.source() };
        let found = Found::default();
        let (signal, result) = (self.net.reactor.signal(lookup.source), found.clone());
        let work = move || {
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(address.look_up());
            signal.done();
        };
        thread::Builder::new().name("name lookup".into()).spawn(work)?;
        self.net.reactor.wait_for(cx.waiter(), Some((lookup.source, Direction::Read)), None);
        cx.wait();
        self.step = Step::LookUp { found, source: lookup, purpose };
        Ok(())
    }

    fn go(
        &mut self,
        cx: &mut Context<'_, Network>,
        addresses: Vec<SocketAddr>,
        purpose: Purpose,
    ) -> io::Result<()> {
        match purpose {
            Purpose::Dial => self.dial(cx, addresses.into_iter(), io::Error::other("No address")),
            Purpose::Listen => {
                let mut error = io::Error::other("No address");
                for address in addresses {
                    match TcpListener::bind(address).and_then(|l| Listening::new(self.net.clone(), l)) {
                        Ok(listening) => {
                            let component = Value::Component(self.net.listener, Box::new(listening));
                            cx.send(Network::Listening, [component]);
                            return Ok(());
                        }
                        Err(e) => error = e,
                    }
                }
                Err(error)
            }
        }
    }

    /// Tries the next address; if there is none, the last error it is.
    fn dial(
        &mut self,
        cx: &mut Context<'_, Network>,
        mut others: vec::IntoIter<SocketAddr>,
        mut error: io::Error,
    ) -> io::Result<()> {
        for address in others.by_ref() {
            match TcpStream::connect(address).and_then(|stream| Socket::new(self.net.reactor.clone(), stream))
            {
                Ok(socket) => {
                    let source = Some((socket.source(), Direction::Write));
                    self.net.reactor.wait_for(cx.waiter(), source, None);
                    cx.wait();
                    self.step = Step::Connecting { socket, others };
                    return Ok(());
                }
                Err(e) => error = e,
            }
        }
        Err(error)
    }

    fn resume(&mut self, cx: &mut Context<'_, Network>) -> io::Result<()> {
        match std::mem::replace(&mut self.step, Step::Idle) {
            Step::Idle => Ok(()),
            Step::LookUp { found, source, purpose } => {
                let result = found.lock().unwrap_or_else(PoisonError::into_inner).take();
                match result {
                    Some(addresses) => self.go(cx, addresses?, purpose),
                    None => {
                        self.net.reactor.wait_for(cx.waiter(), Some((source.source, Direction::Read)), None);
                        cx.wait();
                        self.step = Step::LookUp { found, source, purpose };
                        Ok(())
                    }
                }
            }
            Step::Connecting { socket, others } => match socket.connected() {
                Some(Ok(())) => {
                    let component = Value::Component(self.net.connection, Box::new(Connection(socket)));
                    cx.send(Network::Connected, [component]);
                    Ok(())
                }
                Some(Err(error)) => self.dial(cx, others, error),
                None => {
                    self.net.reactor.wait_for(cx.waiter(), Some((socket.source(), Direction::Write)), None);
                    cx.wait();
                    self.step = Step::Connecting { socket, others };
                    Ok(())
                }
            },
        }
    }
}

impl Service for NetworkClient {
    type Messages = Network;

    fn receive(&mut self, cx: &mut Context<'_, Network>, message: Network, values: Values<'_>) {
        let purpose = match message {
            Network::Listen => Purpose::Listen,
            Network::Dial => Purpose::Dial,
            _ => return,
        };
        if let Err(error) = self.begin(cx, values.text(0), purpose) {
            cx.send(Network::Failed, [Value::Text(reason(&error).as_bytes())]);
        }
    }

    fn ready(&mut self, cx: &mut Context<'_, Network>) {
        if let Err(error) = self.resume(cx) {
            cx.send(Network::Failed, [Value::Text(reason(&error).as_bytes())]);
        }
    }
}
