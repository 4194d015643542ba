//! An address where interfaces are served by HTTP, each below a path of its own.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};

use mio::net::TcpStream;

use super::export::Export;
use super::gate::Gate;
use super::io::Io;
use crate::bindings::entry::Entry;
use crate::bindings::secure::{Acceptor, Files};
use crate::network::socket::Socket;
use crate::reactor::Reactor;
use crate::reason::reason;

/// What a client can choose from, the best first.
const PROTOCOLS: &[&[u8]] = &[b"h2", b"http/1.1"];

/// See the head of this file.
pub(super) struct Site {
    me: Weak<Site>,
    pub(super) reactor: Rc<Reactor>,
    /// `None`: no more.
    entry: RefCell<Option<Rc<Entry>>>,
    exports: RefCell<Vec<Rc<Export>>>,
    /// Where the certificates come from; `None`: without TLS.
    pub(super) files: Option<Files>,
    acceptor: Option<Acceptor>,
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
        let site = Rc::new_cyclic(|me| Site {
            me: me.clone(),
            reactor: reactor.clone(),
            entry: RefCell::default(),
            exports: RefCell::default(),
            files,
            acceptor,
        });
        let me = site.me.clone();
        let take = move |stream| me.upgrade().map_or(Ok(()), |site| site.begin(stream));
        let (entry, _) = Entry::open(reactor, address, take).map_err(|error| reason(&error))?;
        *site.entry.borrow_mut() = Some(entry);
        Ok(site)
    }

    /// One more interface.
    pub(super) fn add(&self, export: &Rc<Export>) -> Result<(), String> {
        let exports = &mut *self.exports.borrow_mut();
        if exports.iter().any(|other| other.path == export.path) {
            return Err("the name is taken in this program".into());
        }
        exports.push(export.clone());
        // The longest path that fits is the one that is meant.
        exports.sort_by_key(|export| std::cmp::Reverse(export.path.len()));
        Ok(())
    }

    /// An interface isn't exported any more. After the last one nobody listens.
    pub(super) fn withdraw(&self, export: &Rc<Export>) {
        self.exports.borrow_mut().retain(|other| !Rc::ptr_eq(other, export));
        if self.exports.borrow().is_empty() {
            self.entry.take();
        }
    }

    /// Whether it listens still.
    pub(super) fn is_open(&self) -> bool {
        self.entry.borrow().is_some()
    }

    /// What a path belongs to, and the rest of the path, without the `/` before it.
    pub(super) fn find(&self, path: &str) -> Option<(Rc<Export>, String)> {
        let exports = self.exports.borrow();
        exports.iter().find_map(|export| {
            let rest = path.strip_prefix(&export.path)?;
            let rest = if rest.is_empty() { rest } else { rest.strip_prefix('/')? };
            Some((export.clone(), rest.to_string()))
        })
    }

    fn begin(&self, stream: TcpStream) -> io::Result<()> {
        let socket = Socket::new(self.reactor.clone(), stream)?;
        let channel = self.acceptor.as_ref().map(Acceptor::accept).transpose()?;
        if let Some(me) = self.me.upgrade() {
            Gate::open(me, Io::new(&self.reactor, socket, channel));
        }
        Ok(())
    }
}
