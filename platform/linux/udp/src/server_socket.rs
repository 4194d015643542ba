//! A server's UDP socket: each datagram is a request, and a communication of its own.

use std::cell::Cell;
use std::io;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use std::time::Instant;

use drystone_handlers::Attached;
use drystone_runtime::far::{Exported, Far, Handled, Waker};

use super::at_arrival::Place;
use super::replies::Replies;
use super::request::{Request, Served};
use super::service::{Asked, Service};
use drystone_net::arrivals::Arrivals;
use drystone_net::datagram::bound;
use drystone_reactor::reason;
use drystone_reactor::{Expectation, Handler, Reactor};

/// Datagrams that are taken in a row, before others have a turn.
const BATCH: usize = 256;

/// See the head of this file.
pub(super) struct ServerSocket {
    me: Weak<ServerSocket>,
    reactor: Rc<Reactor>,
    replies: Rc<Replies>,
    source: usize,
    arrivals: Arrivals<Request>,
    /// The name is withdrawn. Requests that were taken are still answered.
    is_closed: Cell<bool>,
}

impl ServerSocket {
    fn open(reactor: &Rc<Reactor>, service: Service, address: SocketAddr) -> io::Result<Rc<ServerSocket>> {
        let mut socket = bound(address)?;
        let source = reactor.watch(&mut socket)?;
        let socket = Rc::new_cyclic(|me| ServerSocket {
            me: me.clone(),
            reactor: reactor.clone(),
            replies: Rc::new(Replies::new(service, socket)),
            source,
            arrivals: Arrivals::default(),
            is_closed: Cell::default(),
        });
        reactor.handle(source, socket.clone());
        Ok(socket)
    }

    fn take(&self, client: SocketAddr, bytes: &[u8]) {
        let Replies { service, .. } = &*self.replies;
        match service.asked(bytes) {
            Asked::Nothing => {}
            Asked::Refused(id) => self.replies.send(client, &service.refusal(id)),
            Asked::Request { id, message, parameters } => {
                if self.replies.begin() {
                    let replies = self.replies.clone();
                    self.arrivals.bring(Request::new(replies, client, id, message, parameters));
                }
            }
        }
    }
}

impl Handler for ServerSocket {
    fn ready(&self) {
        let mut scratch = self.reactor.scratch.borrow_mut();
        for _ in 0..BATCH {
            if self.is_closed.get() {
                return;
            }
            match self.replies.receive(&mut scratch) {
                Ok((length, client)) => self.take(client, &scratch[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // An ICMP error, about an earlier reply.
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
    socket: Rc<ServerSocket>,
    /// Where the service's handler is to run, and the handler that runs there.
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
        let socket = ServerSocket::open(reactor, service, address).map_err(|error| reason(&error))?;
        Ok(Offered { socket, place, handler: None, _expectation: reactor.expect() })
    }
}

impl Exported for Offered {
    fn attach(&mut self, listener: Waker) {
        self.socket.arrivals.attach(listener);
    }

    fn handled(&mut self, handled: Handled<'_>) {
        self.handler = self.place.as_ref().and_then(|place| place.handler(handled));
    }

    fn accept(&mut self) -> Option<Box<dyn Far>> {
        Some(Box::new(Served::new(self.socket.arrivals.accept()?)))
    }
}

impl Drop for Offered {
    /// Requests that the service hasn't taken are refused.
    fn drop(&mut self) {
        self.handler = None;
        self.socket.is_closed.set(true);
        while self.accept().is_some() {}
        self.socket.reactor.unwatch(self.socket.source, &mut *self.socket.replies.socket.borrow_mut());
    }
}
