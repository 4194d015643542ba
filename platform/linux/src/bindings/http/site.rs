//! An address where interfaces are served by HTTP, each below a path of its own.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use mio::net::{TcpListener, TcpStream};

use super::export::Export;
use super::gate::Gate;
use super::io::Io;
use crate::bindings::secure::{Acceptor, Files};
use crate::network::socket::Socket;
use crate::process::widen;
use crate::reactor::{Handler, Reactor};
use crate::reason::reason;

/// How long nothing is accepted when the system has no room for another connection.
const BREATH: Duration = Duration::from_millis(20);

/// What a client can choose from, the best first.
const PROTOCOLS: &[&[u8]] = &[b"h2", b"http/1.1"];

/// See the head of this file.
pub(super) struct Site {
    me: Weak<Site>,
    pub(super) reactor: Rc<Reactor>,
    /// `None`: no more.
    listener: RefCell<Option<TcpListener>>,
    source: usize,
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
        let about = |error: io::Error| reason(&error);
        let mut listener = TcpListener::bind(address).map_err(about)?;
        widen(&listener);
        let source = reactor.watch(&mut listener).map_err(about)?;
        let site = Rc::new_cyclic(|me| Site {
            me: me.clone(),
            reactor: reactor.clone(),
            listener: RefCell::new(Some(listener)),
            source,
            exports: RefCell::default(),
            files,
            acceptor,
        });
        reactor.handle(source, site.clone());
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
        if self.exports.borrow().is_empty()
            && let Some(mut listener) = self.listener.take()
        {
            self.reactor.unwatch(self.source, &mut listener);
        }
    }

    /// Whether it listens still.
    pub(super) fn is_open(&self) -> bool {
        self.listener.borrow().is_some()
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

    fn accept(&self) -> io::Result<TcpStream> {
        let listener = self.listener.borrow();
        let (stream, _) = listener.as_ref().ok_or(io::ErrorKind::WouldBlock)?.accept()?;
        Ok(stream)
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

impl Handler for Site {
    fn ready(&self) {
        loop {
            let Err(error) = self.accept().and_then(|stream| self.begin(stream)) else { continue };
            match error.kind() {
                io::ErrorKind::WouldBlock => return,
                // It has gone before it was accepted.
                io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted => {}
                _ => {
                    if let Some(me) = self.me.upgrade() {
                        self.reactor.at(Instant::now() + BREATH, me);
                    }
                    return;
                }
            }
        }
    }
}
