//! An address at which what is exported is found.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use mio::net::TcpListener;

use super::credentials::Credentials;
use super::link::Link;
use crate::bindings::peer::Names;
use crate::process::widen;
use crate::reactor::{Handler, Reactor};
use crate::reason::reason;

/// How long it waits when the system has no room for another connection.
const BREATH: Duration = Duration::from_millis(20);

/// See the head of this file. It is open for as long as something is exported there; connections that were made last on.
pub(super) struct Door {
    me: Weak<Door>,
    reactor: Rc<Reactor>,
    listener: RefCell<TcpListener>,
    source: usize,
    pub(super) names: Rc<Names>,
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
    ) -> Result<Rc<Door>, String> {
        let open = || -> io::Result<Rc<Door>> {
            let mut listener = TcpListener::bind(address)?;
            widen(&listener);
            let source = reactor.watch(&mut listener)?;
            let door = Rc::new_cyclic(|me: &Weak<Door>| Door {
                me: me.clone(),
                reactor: reactor.clone(),
                listener: RefCell::new(listener),
                source,
                names: Rc::default(),
                credentials,
            });
            reactor.handle(source, Rc::new(Knock(door.me.clone())));
            Ok(door)
        };
        open().map_err(|error| reason(&error))
    }

    fn accept(&self) {
        loop {
            let accepted = self.listener.borrow().accept();
            let take =
                |(stream, _)| Link::accepted(&self.reactor, stream, &self.names, self.credentials.as_deref());
            match accepted.and_then(take) {
                Ok(()) => {}
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return,
                    // It has gone before it was accepted.
                    io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted => {}
                    _ => {
                        self.reactor.at(Instant::now() + BREATH, Rc::new(Knock(self.me.clone())));
                        return;
                    }
                },
            }
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.reactor.unwatch(self.source, self.listener.get_mut());
    }
}

/// Somebody is at the door, if that is still there.
struct Knock(Weak<Door>);

impl Handler for Knock {
    fn ready(&self) {
        if let Some(door) = self.0.upgrade() {
            door.accept();
        }
    }
}
