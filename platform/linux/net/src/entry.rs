//! Listening by TCP, whatever protocol is spoken over the connections.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use mio::net::{TcpListener, TcpStream};

use crate::alive::keep_alive;
use drystone_reactor::{Reactor, weakly};

/// The pause before the next try to accept when the system has no room for another connection.
pub const BREATH: Duration = Duration::from_millis(20);

/// An address that is listened at, until this is dropped. Connections that were accepted last on.
pub struct Entry {
    me: Weak<Entry>,
    reactor: Rc<Reactor>,
    listener: RefCell<TcpListener>,
    source: usize,
    take: Box<Take>,
}

/// Takes an accepted connection.
type Take = dyn Fn(TcpStream) -> io::Result<()>;

impl Entry {
    /// Begins to listen; each connection goes to `take`. Gives the address, too, as the port may have been 0.
    ///
    /// # Errors
    /// The system refuses.
    pub fn open(
        reactor: &Rc<Reactor>,
        address: SocketAddr,
        take: impl Fn(TcpStream) -> io::Result<()> + 'static,
    ) -> io::Result<(Rc<Entry>, SocketAddr)> {
        let mut listener = TcpListener::bind(address)?;
        widen(&listener);
        let at = listener.local_addr()?;
        let source = reactor.watch(&mut listener)?;
        let entry = Rc::new_cyclic(|me: &Weak<Entry>| Entry {
            me: me.clone(),
            reactor: reactor.clone(),
            listener: RefCell::new(listener),
            source,
            take: Box::new(take),
        });
        reactor.handle(source, weakly(&entry.me, |entry| entry.accept()));
        Ok((entry, at))
    }

    fn admit(&self, stream: TcpStream) -> io::Result<()> {
        keep_alive(&stream);
        (self.take)(stream)
    }

    fn accept(&self) {
        let accept = || self.listener.borrow().accept().and_then(|(stream, _)| self.admit(stream));
        if accept_all(accept) == Room::None {
            self.reactor.at(Instant::now() + BREATH, weakly(&self.me, |entry| entry.accept()));
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.reactor.unwatch(self.source, self.listener.get_mut());
    }
}

/// Whether the system has room for another connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// All connections that waited have been accepted.
    Some,
    /// A connection waits that can't be accepted now: try again after [`BREATH`].
    None,
}

/// Accepts all connections that wait, one by each call of `accept`.
pub fn accept_all(mut accept: impl FnMut() -> io::Result<()>) -> Room {
    loop {
        let Err(error) = accept() else { continue };
        match error.kind() {
            io::ErrorKind::WouldBlock => return Room::Some,
            // The client has gone before it was accepted.
            io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted => {}
            _ => return Room::None,
        }
    }
}

/// Raises the listener's backlog to what the system allows. With the default backlog a burst of connections overflows
/// it, and those that are dropped are tried again only after a second.
pub fn widen(listener: &impl AsRawFd) {
    // SAFETY: the descriptor is open, as it is borrowed; `listen` reads no memory, and only changes the backlog of a
    // socket that listens already.
    unsafe { libc::listen(listener.as_raw_fd(), i32::MAX) };
}
