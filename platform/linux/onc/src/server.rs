//! An exported interface, as its connections and datagrams know it.

use std::rc::Rc;

use super::server_session::Session;
use super::service::Service;
use drystone_net::arrivals::Arrivals;
use drystone_reactor::Reactor;

/// See the head of this file.
pub(super) struct Server {
    pub(super) service: Rc<Service>,
    pub(super) reactor: Rc<Reactor>,
    /// New communications.
    pub(super) arrivals: Arrivals<Rc<Session>>,
}

impl Server {
    pub(super) fn new(reactor: &Rc<Reactor>, service: Service) -> Rc<Server> {
        let (service, reactor) = (Rc::new(service), reactor.clone());
        Rc::new(Server { service, reactor, arrivals: Arrivals::default() })
    }
}
