//! Where clients come in whose calls an exported interface carries out.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use drystone_runtime::far::Waker;

use super::service::Service;
use super::session::Session;
use crate::reactor::Reactor;

/// What connections and datagrams bring calls to.
pub(super) struct Door {
    pub(super) service: Rc<Service>,
    pub(super) reactor: Rc<Reactor>,
    arrived: RefCell<VecDeque<Rc<Session>>>,
    listener: RefCell<Option<Waker>>,
}

impl Door {
    pub(super) fn new(reactor: &Rc<Reactor>, service: Service) -> Rc<Door> {
        Rc::new(Door {
            service: Rc::new(service),
            reactor: reactor.clone(),
            arrived: RefCell::default(),
            listener: RefCell::default(),
        })
    }

    /// Who is woken when a communication begins.
    pub(super) fn attach(&self, listener: Waker) {
        *self.listener.borrow_mut() = Some(listener);
    }

    /// A communication that has begun.
    pub(super) fn accept(&self) -> Option<Rc<Session>> {
        self.arrived.borrow_mut().pop_front()
    }

    /// A communication begins.
    pub(super) fn bring(&self, session: Rc<Session>) {
        self.arrived.borrow_mut().push_back(session);
        let listener = self.listener.borrow().clone();
        if let Some(listener) = listener {
            listener.wake();
        }
    }
}
