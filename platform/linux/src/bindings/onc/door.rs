//! An interface that is exported by ONC RPC: where clients come in, by TCP or UDP.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;

use drystone_runtime::far::{Exported, Far, Waker};

use super::datagrams::Datagrams;
use super::listening::Listening;
use super::portmap::{Registration, Transport};
use super::service::Service;
use super::session::{Served, Session};
use crate::reactor::{Expectation, Reactor};
use crate::reason::reason;

/// What connections and datagrams bring calls to.
pub(super) struct Door {
    pub(super) service: Rc<Service>,
    pub(super) reactor: Rc<Reactor>,
    arrived: RefCell<VecDeque<Rc<Session>>>,
    listener: RefCell<Option<Waker>>,
}

impl Door {
    /// A communication begins.
    pub(super) fn bring(&self, session: Rc<Session>) {
        self.arrived.borrow_mut().push_back(session);
        let listener = self.listener.borrow().clone();
        if let Some(listener) = listener {
            listener.wake();
        }
    }
}

/// The exported name.
pub(super) struct Offered {
    door: Rc<Door>,
    way: Way,
    _registration: Option<Registration>,
    _expectation: Expectation,
}

enum Way {
    Tcp(Rc<Listening>),
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
        let door = Rc::new(Door {
            service: Rc::new(service),
            reactor: reactor.clone(),
            arrived: RefCell::default(),
            listener: RefCell::default(),
        });
        let listening = match transport {
            Transport::Tcp => Listening::new(&door, address).map(|(listening, at)| (Way::Tcp(listening), at)),
            Transport::Udp => Datagrams::new(&door, address).map(|(socket, at)| (Way::Udp(socket), at)),
        };
        let (way, at) = listening.map_err(|error| reason(&error))?;
        let mut offered = Offered { door, way, _registration: None, _expectation: reactor.expect() };
        if address.port() == 0 {
            offered._registration = Registration::new(program, transport, at)?;
        }
        Ok(offered)
    }
}

impl Exported for Offered {
    fn attach(&mut self, listener: Waker) {
        *self.door.listener.borrow_mut() = Some(listener);
    }

    fn accept(&mut self) -> Option<Box<dyn Far>> {
        let session = self.door.arrived.borrow_mut().pop_front()?;
        Some(Box::new(Served(session)))
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
