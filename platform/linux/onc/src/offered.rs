//! An interface that is exported by ONC RPC, by TCP or UDP.

use std::net::SocketAddr;
use std::rc::Rc;

use drystone_runtime::far::{Exported, Far, Waker};

use super::datagrams::Datagrams;
use super::door::Door;
use super::listening::Listening;
use super::portmap::{Registration, Transport};
use super::service::Service;
use super::session::Served;
use drystone_reactor::reason;
use drystone_reactor::{Expectation, Reactor};

/// The exported name.
pub(super) struct Offered {
    door: Rc<Door>,
    way: Way,
    _registration: Option<Registration>,
    _expectation: Expectation,
}

enum Way {
    Tcp(Listening),
    Udp(Rc<Datagrams>),
}

impl Offered {
    /// Listens at an address, and says so to rpcbind if it has no port.
    pub(super) fn new(
        reactor: &Rc<Reactor>,
        service: Service,
        transport: Transport,
        address: SocketAddr,
    ) -> Result<Offered, String> {
        let program = (service.program, service.version);
        let door = Door::new(reactor, service);
        let listening = match transport {
            Transport::Tcp => Listening::new(&door, address).map(|(listening, at)| (Way::Tcp(listening), at)),
            Transport::Udp => Datagrams::new(&door, address).map(|(socket, at)| (Way::Udp(socket), at)),
        };
        let (way, at) = listening.map_err(|error| reason(&error))?;
        let mut offered = Offered { door, way, _registration: None, _expectation: reactor.expect() };
        if address.port() == 0 {
            offered._registration = Some(Registration::new(program, transport, at)?);
        }
        Ok(offered)
    }
}

impl Exported for Offered {
    fn attach(&mut self, listener: Waker) {
        self.door.arrivals.attach(listener);
    }

    fn accept(&mut self) -> Option<Box<dyn Far>> {
        Some(Box::new(Served(self.door.arrivals.accept()?)))
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
