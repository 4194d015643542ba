//! An address at which exported names are found.

use std::net::SocketAddr;
use std::rc::Rc;

use drystone_net::entry::Entry;
use drystone_reactor::{Reactor, reason};

use super::connection::Connection;
use super::credentials::Credentials;
use super::exports::Exports;

/// Listens for as long as something is exported at the address. Connections outlast it.
pub(super) struct Listening {
    _entry: Rc<Entry>,
    pub(super) exports: Rc<Exports>,
    pub(super) credentials: Option<Rc<Credentials>>,
}

impl Listening {
    /// Begins to listen.
    ///
    /// # Errors
    /// The system refuses.
    pub(super) fn open(
        reactor: &Rc<Reactor>,
        address: SocketAddr,
        credentials: Option<Rc<Credentials>>,
        exports: Exports,
    ) -> Result<Rc<Listening>, String> {
        let exports = Rc::new(exports);
        let take = {
            let (reactor, exports, credentials) = (reactor.clone(), exports.clone(), credentials.clone());
            move |stream| Connection::accept(&reactor, stream, &exports, credentials.as_deref())
        };
        let (entry, _) = Entry::open(reactor, address, take).map_err(|error| reason(&error))?;
        Ok(Rc::new(Listening { _entry: entry, exports, credentials }))
    }
}
