//! An interface that is exported by ONC RPC, over TCP or UDP.

use std::net::SocketAddr;
use std::rc::Rc;

use drystone_runtime::far::{Exported, Far, Waker};

use super::portmap::{Registration, Transport};
use super::server::Server;
use super::server_datagrams::ServerDatagrams;
use super::server_listener::ServerListener;
use super::server_session::Served;
use super::service::Service;
use drystone_reactor::reason;
use drystone_reactor::{Expectation, Reactor};

/// The exported name.
pub(super) struct Offered {
    server: Rc<Server>,
    way: Way,
    _registration: Option<Registration>,
    _expectation: Expectation,
}

enum Way {
    Tcp(ServerListener),
    Udp(Rc<ServerDatagrams>),
}

impl Offered {
    /// Listens at an address, and registers with rpcbind if the port is 0.
    ///
    /// # Errors
    /// The system, or rpcbind, refuses.
    pub(super) fn new(
        reactor: &Rc<Reactor>,
        service: Service,
        transport: Transport,
        address: SocketAddr,
    ) -> Result<Offered, String> {
        let program = (service.program, service.version);
        let server = Server::new(reactor, service);
        let listening = match transport {
            Transport::Tcp => {
                ServerListener::new(&server, address).map(|(listening, at)| (Way::Tcp(listening), at))
            }
            Transport::Udp => {
                ServerDatagrams::new(&server, address).map(|(socket, at)| (Way::Udp(socket), at))
            }
        };
        let (way, at) = listening.map_err(|error| reason(&error))?;
        let mut offered = Offered { server, way, _registration: None, _expectation: reactor.expect() };
        if address.port() == 0 {
            offered._registration = Some(Registration::new(program, transport, at)?);
        }
        Ok(offered)
    }
}

impl Exported for Offered {
    fn attach(&mut self, listener: Waker) {
        self.server.arrivals.attach(listener);
    }

    fn accept(&mut self) -> Option<Box<dyn Far>> {
        Some(Box::new(Served(self.server.arrivals.accept()?)))
    }
}

impl Drop for Offered {
    fn drop(&mut self) {
        match &self.way {
            Way::Tcp(listening) => listening.end(),
            Way::Udp(datagrams) => datagrams.end(),
        }
    }
}
