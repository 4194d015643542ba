//! An address to which clients connect by TCP.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use mio::net::{TcpListener, TcpStream};

use super::connection::Connection;
use super::door::Door;
use crate::network::socket::Socket;
use crate::process::widen;
use crate::reactor::Handler;

/// How long nothing is accepted when the system has no room for another connection.
const BREATH: Duration = Duration::from_millis(20);

/// See the head of this file.
pub(super) struct Listening {
    me: Weak<Listening>,
    door: Rc<Door>,
    /// `None`: no more.
    listener: RefCell<Option<TcpListener>>,
    source: usize,
    /// By their sources.
    connections: RefCell<HashMap<usize, Weak<Connection>>>,
}

impl Listening {
    /// Gives the address, too: it may have been given no port.
    pub(super) fn new(door: &Rc<Door>, address: SocketAddr) -> io::Result<(Rc<Listening>, SocketAddr)> {
        let mut listener = TcpListener::bind(address)?;
        widen(&listener);
        let at = listener.local_addr()?;
        let source = door.reactor.watch(&mut listener)?;
        let listening = Rc::new_cyclic(|me| Listening {
            me: me.clone(),
            door: door.clone(),
            listener: RefCell::new(Some(listener)),
            source,
            connections: RefCell::default(),
        });
        door.reactor.handle(source, listening.clone());
        Ok((listening, at))
    }

    /// The name is withdrawn.
    pub(super) fn end(&self) {
        if let Some(mut listener) = self.listener.take() {
            self.door.reactor.unwatch(self.source, &mut listener);
        }
        let connections = self.connections.take();
        connections.values().filter_map(Weak::upgrade).for_each(|connection| connection.end());
    }

    /// A connection has gone.
    pub(super) fn forget(&self, source: usize) {
        self.connections.borrow_mut().remove(&source);
    }

    fn accept(&self) -> io::Result<TcpStream> {
        let listener = self.listener.borrow();
        let (stream, _) = listener.as_ref().ok_or(io::ErrorKind::WouldBlock)?.accept()?;
        Ok(stream)
    }

    fn begin(&self, stream: TcpStream) -> io::Result<()> {
        let socket = Socket::new(self.door.reactor.clone(), stream)?;
        let source = socket.source();
        let connection = Connection::new(&self.door, self.me.clone(), socket);
        self.connections.borrow_mut().insert(source, Rc::downgrade(&connection));
        self.door.reactor.handle(source, connection);
        Ok(())
    }
}

impl Handler for Listening {
    fn ready(&self) {
        loop {
            let Err(error) = self.accept().and_then(|stream| self.begin(stream)) else { continue };
            match error.kind() {
                io::ErrorKind::WouldBlock => return,
                // It has gone before it was accepted.
                io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted => {}
                _ => {
                    if let Some(me) = self.me.upgrade() {
                        self.door.reactor.at(Instant::now() + BREATH, me);
                    }
                    return;
                }
            }
        }
    }
}
