//! An address at which exported names are found.

use std::net::SocketAddr;
use std::rc::Rc;

use drystone_net::entry::Entry;
use drystone_reactor::{Reactor, reason};

use super::connection::Connection;
use super::exports::Exports;

/// Listens for as long as something is exported at the address. Connections outlast it.
pub(super) struct Listening {
    _entry: Rc<Entry>,
    pub(super) exports: Rc<Exports>,
}

impl Listening {
    /// Begins to listen.
    ///
    /// # Errors
    /// The system refuses.
    pub(super) fn open(
        reactor: &Rc<Reactor>,
        address: SocketAddr,
        exports: Rc<Exports>,
    ) -> Result<Rc<Listening>, String> {
        let take = {
            let (reactor, exports) = (reactor.clone(), exports.clone());
            move |stream| Connection::accept(&reactor, stream, &exports)
        };
        let (entry, _) = Entry::open(reactor, address, take).map_err(|error| reason(&error))?;
        Ok(Rc::new(Listening { _entry: entry, exports }))
    }
}
