//! A server's socket: each datagram is a request, and a communication of its own.

use std::cell::{Cell, RefCell};
use std::io;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use std::time::Instant;

use drystone_handlers::Attached;
use drystone_runtime::far::{Exported, Far, Handled, Waker};
use mio::net::UdpSocket;

use super::at_arrival::Place;
use super::request::{Request, Served};
use super::service::{Asked, Service};
use crate::bindings::arrivals::Arrivals;
use crate::bindings::datagram::bound;
use crate::reactor::{Expectation, Handler, Reactor};
use crate::reason::reason;

/// How many requests may wait to be carried out: others are lost, as where the system has no room for them.
const MOST_OPEN: usize = 4096;

/// How many datagrams are taken at a time before others have their turn.
const BATCH: usize = 256;

/// See the head of this file.
pub(super) struct Port {
    me: Weak<Port>,
    reactor: Rc<Reactor>,
    pub(super) service: Service,
    socket: RefCell<UdpSocket>,
    source: usize,
    arrivals: Arrivals<Request>,
    /// How many requests there are.
    open: Cell<usize>,
    /// The name is withdrawn: what has come is still answered.
    is_closed: Cell<bool>,
}

impl Port {
    fn open(reactor: &Rc<Reactor>, service: Service, address: SocketAddr) -> io::Result<Rc<Port>> {
        let mut socket = bound(address)?;
        let source = reactor.watch(&mut socket)?;
        let port = Rc::new_cyclic(|me| Port {
            me: me.clone(),
            reactor: reactor.clone(),
            service,
            socket: RefCell::new(socket),
            source,
            arrivals: Arrivals::default(),
            open: Cell::default(),
            is_closed: Cell::default(),
        });
        reactor.handle(source, port.clone());
        Ok(port)
    }

    /// What can't be sent now is lost like any datagram.
    pub(super) fn send(&self, client: SocketAddr, datagram: &[u8]) {
        let _ = self.socket.borrow().send_to(datagram, client);
    }

    /// A request is over.
    pub(super) fn forget(&self) {
        self.open.set(self.open.get() - 1);
    }

    fn take(&self, client: SocketAddr, bytes: &[u8]) {
        match self.service.asked(bytes) {
            Asked::Nothing => {}
            Asked::Refused(id) => self.send(client, &self.service.refusal(id)),
            Asked::Request { id, message, parameters } => {
                if self.open.get() < MOST_OPEN
                    && let Some(port) = self.me.upgrade()
                {
                    self.open.set(self.open.get() + 1);
                    self.arrivals.bring(Request::new(port, client, id, message, parameters));
                }
            }
        }
    }
}

impl Handler for Port {
    fn ready(&self) {
        let mut scratch = self.reactor.scratch.borrow_mut();
        for _ in 0..BATCH {
            if self.is_closed.get() {
                return;
            }
            let received = self.socket.borrow().recv_from(&mut scratch);
            match received {
                Ok((length, client)) => self.take(client, &scratch[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // What happened to an earlier reply.
                Err(_) => {}
            }
        }
        if let Some(me) = self.me.upgrade() {
            self.reactor.at(Instant::now(), me);
        }
    }
}

/// The exported name.
pub(super) struct Offered {
    port: Rc<Port>,
    /// Where its handler is to run, and the handler that runs there.
    place: Option<Place>,
    handler: Option<Attached>,
    _expectation: Expectation,
}

impl Offered {
    pub(super) fn new(
        reactor: &Rc<Reactor>,
        service: Service,
        address: SocketAddr,
        place: Option<Place>,
    ) -> Result<Offered, String> {
        let port = Port::open(reactor, service, address).map_err(|error| reason(&error))?;
        Ok(Offered { port, place, handler: None, _expectation: reactor.expect() })
    }
}

impl Exported for Offered {
    fn attach(&mut self, listener: Waker) {
        self.port.arrivals.attach(listener);
    }

    fn handled(&mut self, handled: Handled<'_>) {
        self.handler = self.place.as_ref().and_then(|place| place.handler(handled));
    }

    fn accept(&mut self) -> Option<Box<dyn Far>> {
        Some(Box::new(Served::new(self.port.arrivals.accept()?)))
    }
}

impl Drop for Offered {
    /// What has come and nobody has let in is refused.
    fn drop(&mut self) {
        self.handler = None;
        self.port.is_closed.set(true);
        while self.accept().is_some() {}
        self.port.reactor.unwatch(self.port.source, &mut *self.port.socket.borrow_mut());
    }
}
