//! What all clients of Network share.

use std::io;
use std::rc::Rc;

use drystone_component::Program;
use drystone_net::socket::Socket;
use drystone_reactor::Reactor;
use drystone_runtime::native::{Kind, Part};
use mio::net::TcpStream;

use super::connection::Connection;
use crate::interfaces::{input, listener, output};

/// The shared state of Network's clients.
pub(crate) struct Net {
    pub(crate) reactor: Rc<Reactor>,
    pub(super) listener: &'static Kind,
    pub(super) connection: &'static Kind,
}

impl Net {
    /// An error names an interface that the program declares differently.
    pub(crate) fn new(program: &'static Program, reactor: Rc<Reactor>) -> Result<Rc<Net>, String> {
        Ok(Rc::new(Net {
            reactor,
            listener: Kind::new(program, "Listener", &[&listener::DECLARATION])?,
            connection: Kind::new(program, "Connection", &[&input::DECLARATION, &output::DECLARATION])?,
        }))
    }

    /// Makes the component for a connection.
    pub(super) fn connection(&self, stream: TcpStream) -> io::Result<Part> {
        let socket = Socket::new(self.reactor.clone(), stream)?;
        Ok(Part::new(self.connection, Connection::new(socket)))
    }
}
