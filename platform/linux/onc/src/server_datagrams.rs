//! A server's UDP socket. Each call is a communication of its own, and is carried out once, however often it comes.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use std::time::Instant;

use drystone_runtime::far::Waker;
use mio::net::UdpSocket;

use super::repeats::{Key, Known, Repeats};
use super::server::Server;
use super::server_session::{Back, Call, Session, Write};
use super::service::{Asked, Service};
use drystone_net::datagram::{bound, fits};
use drystone_reactor::Handler;

/// Most calls that are unanswered: more are dropped, and their clients send them again.
const MOST_OPEN: usize = 4096;

/// Datagrams that are taken in a row, before others have a turn.
const BATCH: usize = 256;

/// See the head of this file.
pub(super) struct ServerDatagrams {
    me: Weak<ServerDatagrams>,
    server: Rc<Server>,
    socket: RefCell<UdpSocket>,
    source: usize,
    repeats: RefCell<Repeats>,
    over: Cell<bool>,
}

impl ServerDatagrams {
    /// Gives the address, too, as the port may have been 0.
    pub(super) fn new(
        server: &Rc<Server>,
        address: SocketAddr,
    ) -> io::Result<(Rc<ServerDatagrams>, SocketAddr)> {
        let mut socket = bound(address)?;
        let at = socket.local_addr()?;
        let source = server.reactor.watch(&mut socket)?;
        let datagrams = Rc::new_cyclic(|me| ServerDatagrams {
            me: me.clone(),
            server: server.clone(),
            socket: RefCell::new(socket),
            source,
            repeats: RefCell::default(),
            over: Cell::new(false),
        });
        server.reactor.handle(source, datagrams.clone());
        Ok((datagrams, at))
    }

    /// The name is withdrawn.
    pub(super) fn end(&self) {
        self.over.set(true);
        self.server.reactor.unwatch(self.source, &mut *self.socket.borrow_mut());
    }

    /// A reply that can't be sent now is lost, like any datagram: the client sends its call again.
    fn send(&self, peer: SocketAddr, reply: &[u8]) {
        if !self.over.get() {
            let _ = self.socket.borrow().send_to(reply, peer);
        }
    }

    fn take(&self, peer: SocketAddr, bytes: &[u8]) {
        match self.server.service.asked(bytes) {
            Asked::Nothing => {}
            Asked::Reply(reply) => self.send(peer, &reply),
            Asked::Call { xid, call, arguments } => {
                let key = Key::of(peer, xid, bytes);
                if let Some(back) = self.is_new(peer, key) {
                    let call = Call { xid, call, arguments: arguments.to_vec(), back };
                    let service = self.server.service.clone();
                    self.server.arrivals.bring(Session::new(service, VecDeque::from([call]), false));
                }
            }
        }
    }

    /// Where the reply of a new call goes. A call that was answered before is answered once more.
    fn is_new(&self, peer: SocketAddr, key: Key) -> Option<Rc<dyn Back>> {
        let known = {
            let repeats = &mut *self.repeats.borrow_mut();
            if repeats.open() >= MOST_OPEN { repeats.look(key) } else { repeats.came(key) }
        };
        match known {
            Known::New => Some(Rc::new(Caller { datagrams: self.me.upgrade()?, peer, key })),
            Known::Begun => None,
            Known::Answered(reply) => {
                self.send(peer, &reply);
                None
            }
        }
    }

    fn receive(&self, bytes: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.socket.borrow().recv_from(bytes)
    }
}

/// The client of one call.
struct Caller {
    datagrams: Rc<ServerDatagrams>,
    peer: SocketAddr,
    key: Key,
}

impl Back for Caller {
    fn has_room(&self, _: &Waker) -> bool {
        true
    }

    fn reply(&self, call: &Call, write: Write<'_>) -> Result<(), String> {
        let mut out = Vec::new();
        let written = write(&mut out).and_then(|()| fits("reply", &out));
        if written.is_err() {
            out.clear();
            Service::failed(&mut out, call.xid);
        }
        let reply: Rc<[u8]> = out.into();
        self.datagrams.repeats.borrow_mut().answered(self.key, reply.clone());
        self.datagrams.send(self.peer, &reply);
        written
    }

    fn lasts(&self) -> bool {
        false
    }

    fn begin_anew(&self, _: VecDeque<Call>) {}
}

impl Handler for ServerDatagrams {
    fn ready(&self) {
        let mut scratch = self.server.reactor.scratch.borrow_mut();
        for _ in 0..BATCH {
            if self.over.get() {
                return;
            }
            match self.receive(&mut scratch) {
                Ok((length, peer)) => self.take(peer, &scratch[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // An ICMP error, about an earlier reply.
                Err(_) => {}
            }
        }
        if let Some(me) = self.me.upgrade() {
            self.server.reactor.at(Instant::now(), me);
        }
    }
}
