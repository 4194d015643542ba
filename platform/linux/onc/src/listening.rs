//! An address to which clients connect by TCP.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};

use super::connection::{Connection, Connections};
use super::door::Door;
use drystone_net::entry::Entry;
use drystone_net::socket::Socket;

/// See the head of this file.
pub(super) struct Listening {
    /// `None`: no more.
    entry: RefCell<Option<Rc<Entry>>>,
    connections: Rc<Connections>,
}

impl Listening {
    /// Gives the address, too: it may have been given no port.
    pub(super) fn new(door: &Rc<Door>, address: SocketAddr) -> io::Result<(Listening, SocketAddr)> {
        let connections = Rc::<Connections>::default();
        let take = {
            let (door, connections) = (door.clone(), connections.clone());
            move |stream| {
                let socket = Socket::new(door.reactor.clone(), stream)?;
                Connection::begin_at(&door, &connections, socket);
                Ok(())
            }
        };
        let (entry, at) = Entry::open(&door.reactor, address, take)?;
        Ok((Listening { entry: RefCell::new(Some(entry)), connections }, at))
    }

    /// The name is withdrawn.
    pub(super) fn end(&self) {
        self.entry.take();
        let connections = self.connections.take();
        connections.values().filter_map(Weak::upgrade).for_each(|connection| connection.end());
    }
}
