//! The component that `Listening` brings, and its service Listener. Thousands may wait for a connection at a time: one
//! connection wakes one of them.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use drystone_runtime::native::{Component, Context, Service, Serving, Value, Values};
use mio::net::TcpListener;

use super::Net;
use crate::interfaces::Listener;
use crate::process::widen;
use crate::reactor::Direction;
use crate::reason::reason;

/// How long `Failed` is held back when the system has no room for another connection: a program that asks again at
/// once would do nothing else.
const BREATH: Duration = Duration::from_millis(20);

/// An address that others dial; dropped with its last user.
struct Door {
    net: Rc<Net>,
    listener: RefCell<TcpListener>,
    source: usize,
}

impl Door {
    /// The kernel speaks once of connections, however many there are: whoever has tried hands on.
    fn let_next_try(&self) {
        self.net.reactor.wake(self.source, Direction::Read);
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.net.reactor.unwatch(self.source, self.listener.get_mut());
    }
}

/// The component.
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
        Serving::new(Porter { door: self.0.clone(), failure: None })
    }
}

/// A client that accepts.
struct Porter {
    door: Rc<Door>,
    /// Why nothing could be accepted, and when to say so.
    failure: Option<(io::Error, Instant)>,
}

impl Porter {
    fn accept(&mut self, cx: &mut Context<'_, Listener>) {
        let net = &self.door.net;
        if let Some((error, when)) = &self.failure {
            if *when <= Instant::now() {
                cx.send(Listener::Failed, [Value::Text(reason(error).as_bytes())]);
                self.failure = None;
                self.door.let_next_try();
            } else {
                net.reactor.wait_for(cx.waiter(), None, Some(*when));
                cx.wait();
            }
            return;
        }
        loop {
            let accepted = self.door.listener.borrow().accept();
            match accepted.and_then(|(stream, peer)| Ok((net.connection(stream)?, peer))) {
                Ok((component, peer)) => {
                    cx.send(Listener::Accepted, [component, Value::Text(peer.to_string().as_bytes())]);
                    self.door.let_next_try();
                    return;
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => {
                        net.reactor.wait_for(cx.waiter(), Some((self.door.source, Direction::Read)), None);
                        cx.wait();
                        return;
                    }
                    // It has gone before it was accepted.
                    io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted => {}
                    _ => {
                        let when = Instant::now() + BREATH;
                        self.failure = Some((error, when));
                        net.reactor.wait_for(cx.waiter(), None, Some(when));
                        cx.wait();
                        return;
                    }
                },
            }
        }
    }
}

impl Drop for Porter {
    fn drop(&mut self) {
        // It may have been woken and not have come to try.
        self.door.let_next_try();
    }
}

impl Service for Porter {
    type Messages = Listener;

    fn receive(&mut self, cx: &mut Context<'_, Listener>, message: Listener, _: Values<'_>) {
        if message == Listener::Accept {
            self.accept(cx);
        }
    }

    fn ready(&mut self, cx: &mut Context<'_, Listener>) {
        self.accept(cx);
    }
}
