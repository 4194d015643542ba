//! An address at which a server listens for TCP connections.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};

use super::server::Server;
use super::server_stream::{ServerStream, ServerStreams};
use drystone_net::entry::Entry;
use drystone_net::socket::Socket;

/// See the head of this file.
pub(super) struct ServerListener {
    /// `None`: it listens no more.
    entry: RefCell<Option<Rc<Entry>>>,
    connections: Rc<ServerStreams>,
}

impl ServerListener {
    /// Begins to listen. Gives the address, too, as the port may have been 0.
    pub(super) fn new(server: &Rc<Server>, address: SocketAddr) -> io::Result<(ServerListener, SocketAddr)> {
        let connections = Rc::<ServerStreams>::default();
        let take = {
            let (server, connections) = (server.clone(), connections.clone());
            move |stream| {
                let socket = Socket::new(server.reactor.clone(), stream)?;
                ServerStream::begin_at(&server, &connections, socket);
                Ok(())
            }
        };
        let (entry, at) = Entry::open(&server.reactor, address, take)?;
        Ok((ServerListener { entry: RefCell::new(Some(entry)), connections }, at))
    }

    /// The name is withdrawn: ends all connections.
    pub(super) fn end(&self) {
        self.entry.take();
        let connections = self.connections.take();
        connections.values().filter_map(Weak::upgrade).for_each(|connection| connection.end());
    }
}
