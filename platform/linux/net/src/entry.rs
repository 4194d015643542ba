//! An address to which others connect by TCP, whatever they talk then.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use mio::net::{TcpListener, TcpStream};

use crate::alive::keep_alive;
use drystone_reactor::{Reactor, weakly};

/// How long nothing is accepted when the system has no room for another connection.
pub const BREATH: Duration = Duration::from_millis(20);

/// See the head of this file. Nobody listens any more when it is dropped; connections that were made last on.
pub struct Entry {
    me: Weak<Entry>,
    reactor: Rc<Reactor>,
    listener: RefCell<TcpListener>,
    source: usize,
    take: Box<Take>,
}

/// What becomes of a connection.
type Take = dyn Fn(TcpStream) -> io::Result<()>;

impl Entry {
    /// Begins to listen. Gives the address, too: it may have been given no port.
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
    /// All who came have been let in.
    Some,
    /// Somebody waits who can't be let in now: after [`BREATH`] it may go.
    None,
}

/// Lets in all who wait, one by each call of `accept`.
pub fn accept_all(mut accept: impl FnMut() -> io::Result<()>) -> Room {
    loop {
        let Err(error) = accept() else { continue };
        match error.kind() {
            io::ErrorKind::WouldBlock => return Room::Some,
            // It has gone before it was accepted.
            io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted => {}
            _ => return Room::None,
        }
    }
}

/// Lets as many connections wait to be accepted as the system allows: by default they are so few that a burst of them
/// is dropped, and tried again only after a second.
pub fn widen(listener: &impl AsRawFd) {
    // SAFETY: a listening socket; listening again only changes this number.
    unsafe { libc::listen(listener.as_raw_fd(), i32::MAX) };
}
