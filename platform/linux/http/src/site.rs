//! An address where interfaces are served by HTTP, each below a path of its own.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;

use drystone_runtime::far::{Exported, Far, Waker};
use mio::net::TcpStream;

use super::export::{Export, Exports};
use super::io::Io;
use super::new_connection::NewConnection;
use drystone_net::entry::Entry;
use drystone_net::secure::{Acceptor, Files};
use drystone_net::socket::Socket;
use drystone_net::stream::Stream;
use drystone_reactor::reason;
use drystone_reactor::{Expectation, Reactor};

/// Protocols for clients to choose from (ALPN), the best first.
const PROTOCOLS: &[&[u8]] = &[b"h2", b"http/1.1"];

/// See the head of this file.
pub(super) struct Site {
    /// `None`: it listens no more.
    entry: RefCell<Option<Rc<Entry>>>,
    exports: Rc<Exports>,
    /// The files with the certificates; `None`: without TLS.
    pub(super) files: Option<Files>,
}

impl Site {
    pub(super) fn new(
        reactor: &Rc<Reactor>,
        address: SocketAddr,
        files: Option<Files>,
    ) -> Result<Rc<Site>, String> {
        let acceptor = match &files {
            None => None,
            Some(files) => Acceptor::read(files, PROTOCOLS)?,
        };
        let exports = Rc::<Exports>::default();
        let take = {
            let (reactor, exports) = (reactor.clone(), exports.clone());
            move |stream: TcpStream| {
                let peer = stream.peer_addr()?;
                let socket = Socket::new(reactor.clone(), stream)?;
                let channel = acceptor.as_ref().map(Acceptor::accept).transpose()?;
                let is_secure = channel.is_some();
                let io = Io(Stream::new(&reactor, socket, channel));
                NewConnection::open(&reactor, exports.clone(), io, (peer, is_secure));
                Ok(())
            }
        };
        let (entry, _) = Entry::open(reactor, address, take).map_err(|error| reason(&error))?;
        Ok(Rc::new(Site { entry: RefCell::new(Some(entry)), exports, files }))
    }

    /// Whether it still listens.
    pub(super) fn is_open(&self) -> bool {
        self.entry.borrow().is_some()
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
        site.exports.add(&export)?;
        Ok(Offered { export, site, _expectation: expectation })
    }
}

impl Exported for Offered {
    fn attach(&mut self, listener: Waker) {
        self.export.attach(listener);
    }

    fn accept(&mut self) -> Option<Box<dyn Far>> {
        self.export.accept()
    }
}

impl Drop for Offered {
    fn drop(&mut self) {
        if self.site.exports.withdraw(&self.export) {
            // That was the last export: the site listens no more.
            self.site.entry.take();
        }
        self.export.close();
    }
}
