//! An address at which what is exported is found.

use std::net::SocketAddr;
use std::rc::Rc;

use super::credentials::Credentials;
use super::exports::Exports;
use super::link::Link;
use drystone_net::entry::Entry;
use drystone_reactor::Reactor;
use drystone_reactor::reason;

/// See the head of this file. It is open for as long as something is exported there; connections that were made last
/// on.
pub(super) struct Door {
    _entry: Rc<Entry>,
    pub(super) exports: Rc<Exports>,
    pub(super) credentials: Option<Rc<Credentials>>,
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
