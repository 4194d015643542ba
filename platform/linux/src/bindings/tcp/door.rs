//! An address at which what is exported is found.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;

use drystone_kortex::peer::{Composites, Names};

use super::credentials::Credentials;
use super::crowd::Crowd;
use super::link::Link;
use crate::bindings::entry::Entry;
use crate::reactor::Reactor;
use crate::reason::reason;

/// See the head of this file. It is open for as long as something is exported there; connections that were made last
/// on.
pub(super) struct Door {
    _entry: Rc<Entry>,
    pub(super) exports: Rc<Exports>,
    pub(super) credentials: Option<Rc<Credentials>>,
}

/// What who comes in may ask for.
pub(super) struct Exports {
    pub(super) names: Rc<Names>,
    pub(super) composites: Rc<dyn Composites>,
    /// Who comes in from now on may ship composite calls.
    pub(super) takes_composites: Cell<bool>,
    /// All who have come in, at whatever door.
    pub(super) crowd: Rc<Crowd>,
}

impl Exports {
    /// Nothing yet.
    pub(super) fn new(composites: Rc<dyn Composites>, crowd: Rc<Crowd>) -> Exports {
        Exports { names: Rc::default(), composites, takes_composites: Cell::new(true), crowd }
    }
}

impl Door {
    /// Begins to listen.
    ///
    /// # Errors
    /// The system refuses.
    pub(super) fn open(
        reactor: &Rc<Reactor>,
        address: SocketAddr,
        credentials: Option<Rc<Credentials>>,
        exports: Exports,
    ) -> Result<Rc<Door>, String> {
        let exports = Rc::new(exports);
        let take = {
            let (reactor, exports, credentials) = (reactor.clone(), exports.clone(), credentials.clone());
            move |stream| Link::accepted(&reactor, stream, &exports, credentials.as_deref())
        };
        let (entry, _) = Entry::open(reactor, address, take).map_err(|error| reason(&error))?;
        Ok(Rc::new(Door { _entry: entry, exports, credentials }))
    }
}
