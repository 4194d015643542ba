//! An address to which clients connect by TCP.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};

use mio::net::TcpStream;

use super::connection::Connection;
use super::door::Door;
use crate::bindings::entry::Entry;
use crate::network::socket::Socket;

/// See the head of this file.
pub(super) struct Listening {
    me: Weak<Listening>,
    door: Rc<Door>,
    /// `None`: no more.
    entry: RefCell<Option<Rc<Entry>>>,
    /// By their sources.
    connections: RefCell<HashMap<usize, Weak<Connection>>>,
}

impl Listening {
    /// Gives the address, too: it may have been given no port.
    pub(super) fn new(door: &Rc<Door>, address: SocketAddr) -> io::Result<(Rc<Listening>, SocketAddr)> {
        let listening = Rc::new_cyclic(|me| Listening {
            me: me.clone(),
            door: door.clone(),
            entry: RefCell::default(),
            connections: RefCell::default(),
        });
        let me = listening.me.clone();
        let take =
            move |stream| me.upgrade().map_or(Ok(()), |listening: Rc<Listening>| listening.begin(stream));
        let (entry, at) = Entry::open(&door.reactor, address, take)?;
        *listening.entry.borrow_mut() = Some(entry);
        Ok((listening, at))
    }

    /// The name is withdrawn.
    pub(super) fn end(&self) {
        self.entry.take();
        let connections = self.connections.take();
        connections.values().filter_map(Weak::upgrade).for_each(|connection| connection.end());
    }

    /// A connection has gone.
    pub(super) fn forget(&self, source: usize) {
        self.connections.borrow_mut().remove(&source);
    }

    fn begin(&self, stream: TcpStream) -> io::Result<()> {
        let socket = Socket::new(self.door.reactor.clone(), stream)?;
        let source = socket.source();
        let connection = Connection::new(&self.door, self.me.clone(), socket);
        self.connections.borrow_mut().insert(source, Rc::downgrade(&connection));
        self.door.reactor.handle(source, connection);
        Ok(())
    }
}
