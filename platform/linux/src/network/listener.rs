//! The component that `Listening` carries, and its service Listener. Thousands of clients may wait for a connection at
//! a time: each connection wakes only one.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::task::Poll;
use std::time::Instant;

use drystone_runtime::native::{Caller, Component, Serving};
use mio::net::TcpListener;

use super::net::Net;
use crate::interfaces::listener::{self, AcceptAnswer, ListenerLater};
use drystone_net::alive::keep_alive;
use drystone_net::entry::{BREATH, widen};
use drystone_reactor::Direction;
use drystone_reactor::reason;

/// A listening address. It is closed with its last user.
struct Door {
    net: Rc<Net>,
    listener: RefCell<TcpListener>,
    source: usize,
}

impl Door {
    /// Wakes the next waiting client: the kernel reports connections once, however many there are.
    fn let_next_try(&self) {
        self.net.reactor.wake(self.source, Direction::Read);
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.net.reactor.unwatch(self.source, self.listener.get_mut());
    }
}

/// A listening address, as a component.
pub(crate) struct Listening(Rc<Door>);

impl Listening {
    pub(crate) fn new(net: Rc<Net>, mut listener: TcpListener) -> io::Result<Listening> {
        widen(&listener);
        let source = net.reactor.watch(&mut listener)?;
        net.reactor.one_by_one(source);
        Ok(Listening(Rc::new(Door { net, listener: RefCell::new(listener), source })))
    }
}

impl Component for Listening {
    fn serve(&mut self, _: usize) -> Serving {
        listener::serve(Porter { door: self.0.clone(), failure: None })
    }
}

/// A client that accepts.
struct Porter {
    door: Rc<Door>,
    /// Why accepting failed, and when to report it.
    failure: Option<(io::Error, Instant)>,
}

impl ListenerLater for Porter {
    fn accept(&mut self, caller: &Caller) -> Poll<AcceptAnswer<'_>> {
        let net = &self.door.net;
        if let Some((error, when)) = self.failure.take() {
            if when > Instant::now() {
                net.reactor.wait_for(caller.waiter(), None, Some(when));
                self.failure = Some((error, when));
                return Poll::Pending;
            }
            self.door.let_next_try();
            return Poll::Ready(AcceptAnswer::Failed { reason: reason(&error).into() });
        }
        loop {
            let accepted = self.door.listener.borrow().accept();
            let connected = accepted.and_then(|(stream, peer)| {
                keep_alive(&stream);
                Ok((net.connection(stream)?, peer))
            });
            match connected {
                Ok((c, peer)) => {
                    self.door.let_next_try();
                    return Poll::Ready(AcceptAnswer::Accepted { c, peer: peer.to_string().into() });
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => {
                        let source = Some((self.door.source, Direction::Read));
                        net.reactor.wait_for(caller.waiter(), source, None);
                        return Poll::Pending;
                    }
                    // The connection has gone before it was accepted.
                    io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted => {}
                    // Reported later, or a program that asks again at once would do nothing else.
                    _ => {
                        let when = Instant::now() + BREATH;
                        self.failure = Some((error, when));
                        net.reactor.wait_for(caller.waiter(), None, Some(when));
                        return Poll::Pending;
                    }
                },
            }
        }
    }
}

impl Drop for Porter {
    fn drop(&mut self) {
        // This client may have been woken without having tried yet.
        self.door.let_next_try();
    }
}
