//! An exported interface, as HTTP's requests find it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use drystone_component::calls::Calls;
use drystone_component::{Interface, Side};
use drystone_runtime::far::{Exported, Far, Waker};
use hyper::body::Bytes;

use super::site::Site;
use crate::reactor::Expectation;

/// See the head of this file.
pub(super) struct Export {
    /// Without a `/` at its end.
    pub(super) path: String,
    pub(super) interface: &'static Interface,
    /// `None`: it is no interface of requests and replies.
    pub(super) calls: Option<Calls>,
    pub(super) description: Bytes,
    /// Most bytes of a request or a WebSocket's message.
    pub(super) limit: usize,
    /// What a client has to show to be let in.
    pub(super) token: Option<String>,
    /// How many requests are being carried out.
    pub(super) open: Cell<usize>,
    arrived: RefCell<VecDeque<Box<dyn Far>>>,
    listener: RefCell<Option<Waker>>,
}

impl Export {
    pub(super) fn new(
        path: String,
        interface: &'static Interface,
        calls: Option<Calls>,
        description: String,
        (limit, token): (usize, Option<String>),
    ) -> Export {
        Export {
            path,
            interface,
            calls,
            description: description.into(),
            limit,
            token,
            open: Cell::default(),
            arrived: RefCell::default(),
            listener: RefCell::default(),
        }
    }

    /// A communication begins.
    pub(super) fn bring(&self, far: Box<dyn Far>) {
        self.arrived.borrow_mut().push_back(far);
        let listener = self.listener.borrow().clone();
        if let Some(listener) = listener {
            listener.wake();
        }
    }

    /// The number of a message of the client's.
    pub(super) fn message(&self, name: &str) -> Option<usize> {
        let messages = self.interface.messages.get();
        messages.iter().position(|message| message.sender == Side::Client && message.name.get() == name)
    }
}

/// The exported name.
pub(super) struct Offered {
    export: Rc<Export>,
    site: Rc<Site>,
    _expectation: Expectation,
}

impl Offered {
    pub(super) fn new(site: Rc<Site>, export: Export, expectation: Expectation) -> Result<Offered, String> {
        let export = Rc::new(export);
        site.add(&export)?;
        Ok(Offered { export, site, _expectation: expectation })
    }
}

impl Exported for Offered {
    fn attach(&mut self, listener: Waker) {
        *self.export.listener.borrow_mut() = Some(listener);
    }

    fn accept(&mut self) -> Option<Box<dyn Far>> {
        self.export.arrived.borrow_mut().pop_front()
    }
}

impl Drop for Offered {
    fn drop(&mut self) {
        self.site.withdraw(&self.export);
    }
}
