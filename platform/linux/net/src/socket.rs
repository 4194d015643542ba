//! A connection over TCP with its output buffer. An idle one has no buffers.

use std::cell::{Cell, RefCell};
use std::io::{self, Read};
use std::net::Shutdown;
use std::rc::{Rc, Weak};

use mio::net::TcpStream;

use drystone_reactor::{Direction, Drain, Reactor};

pub use crate::outflow::FULL;
use crate::outflow::Outflow;

/// A connection; closed with its last user, which may be the reactor, if bytes are left to be sent.
pub struct Socket {
    me: Weak<Socket>,
    reactor: Rc<Reactor>,
    stream: RefCell<TcpStream>,
    source: usize,
    output: RefCell<Outflow>,
    /// This side has closed it, both ways.
    closed: Cell<bool>,
    /// The reactor's turn in which it was read last, and how often.
    reads: Cell<(u64, usize)>,
}

/// Reads of a connection in a row, before other connections have a turn.
const READS: usize = 16;

impl Socket {
    /// A connection that is made, or begun.
    ///
    /// # Errors
    /// The system can't watch one more.
    pub fn new(reactor: Rc<Reactor>, mut stream: TcpStream) -> io::Result<Rc<Socket>> {
        // Bytes are collected here until the program has nothing else to do; the kernel needn't do so again.
        let _ = stream.set_nodelay(true);
        let source = reactor.watch(&mut stream)?;
        Ok(Rc::new_cyclic(|me| Socket {
            me: me.clone(),
            reactor,
            stream: RefCell::new(stream),
            source,
            output: RefCell::default(),
            closed: Cell::new(false),
            reads: Cell::default(),
        }))
    }

    /// The reactor that watches it.
    pub fn reactor(&self) -> &Rc<Reactor> {
        &self.reactor
    }

    /// Whether this side has closed it, both ways.
    pub fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// The reactor's source for it.
    pub fn source(&self) -> usize {
        self.source
    }

    /// Whether a connection that was begun is made; `None`: not yet.
    pub fn connected(&self) -> Option<io::Result<()>> {
        let stream = self.stream.borrow();
        made(&stream).inspect(|made| {
            if made.is_ok() {
                let _ = stream.set_nodelay(true);
            }
        })
    }

    /// Reads what there is; 0 at the end.
    ///
    /// # Errors
    /// `WouldBlock`, or the connection is lost.
    pub fn read(&self, bytes: &mut [u8]) -> io::Result<usize> {
        if self.reactor.is_dry(self.source) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        loop {
            match self.stream.borrow_mut().read(bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(n) => {
                    if n < bytes.len() {
                        self.reactor.is_dry_now(self.source);
                    }
                    return Ok(n);
                }
                error => return error,
            }
        }
    }

    /// The same, a limited number of times in a turn of the reactor: then it would block, and its handler runs again in
    /// the next turn.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn read_in_turn(&self, bytes: &mut [u8]) -> io::Result<usize> {
        let turn = self.reactor.turn();
        let (last, reads) = self.reads.get();
        let reads = if last == turn { reads } else { 0 };
        if reads >= READS {
            self.reactor.come_back(self.source);
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.reads.set((turn, reads + 1));
        self.read(bytes)
    }

    /// Takes bytes to be sent, soon. After a failure, or the end of writing, they are dropped.
    pub fn write(&self, bytes: &[u8]) {
        let taken = self.output.borrow_mut().take(bytes);
        if let Some(many) = taken {
            self.send(many);
        }
    }

    /// How many bytes wait to be sent.
    pub fn unsent(&self) -> usize {
        self.output.borrow().unsent()
    }

    /// Why nothing can be written any more.
    pub fn failure(&self) -> Option<String> {
        self.output.borrow().failure()
    }

    /// Nothing more will be written: the other side sees the end when everything has been sent.
    pub fn finish(&self) {
        self.output.borrow_mut().finish();
        self.send(true);
    }

    /// Ends both ways. What was written before is still sent, within a time limit; nobody waits for that.
    pub fn close(&self) {
        self.closed.set(true);
        // This also makes the socket readable, which wakes the readers. It may be gone already.
        let _ = self.stream.borrow().shutdown(Shutdown::Read);
        self.finish();
        self.reactor.leave(self.source);
        self.reactor.wake(self.source, Direction::Write);
    }

    /// Nobody writes any more: what is left is still sent, within a time limit.
    pub fn leave(&self) {
        if self.unsent() > 0 {
            self.send(true);
            self.reactor.leave(self.source);
        }
    }

    /// The other side has taken too long to receive: what is left is dropped. The connection ends both ways,
    /// because the other side has only a part.
    pub fn expire(&self) {
        self.output.borrow_mut().fail(io::Error::other("timeout"));
        // It may be gone already.
        let _ = self.stream.borrow().shutdown(Shutdown::Both);
    }

    /// Sends at once, or when the program has nothing else to do; the rest when the kernel has room.
    pub fn send(&self, now: bool) {
        if !(now && self.drain()) {
            let me = self.me.upgrade().expect("is used through it");
            self.reactor.drain_later(self.source, me);
        }
    }
}

/// Whether a connection that was begun is made; `None`: not yet.
pub fn made(stream: &TcpStream) -> Option<io::Result<()>> {
    match stream.take_error() {
        Ok(Some(error)) | Err(error) => return Some(Err(error)),
        Ok(None) => {}
    }
    match stream.peer_addr() {
        Ok(_) => Some(Ok(())),
        Err(error) if error.kind() == io::ErrorKind::NotConnected => None,
        Err(error) => Some(Err(error)),
    }
}

impl Drain for Socket {
    fn drain(&self) -> bool {
        let output = &mut *self.output.borrow_mut();
        let drained = output.drain(&mut *self.stream.borrow_mut());
        if drained && output.is_finished() {
            // It may be gone already.
            let _ = self.stream.borrow().shutdown(Shutdown::Write);
        }
        drained
    }

    fn give_up(&self) {
        self.output.borrow_mut().fail(io::ErrorKind::TimedOut.into());
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.reactor.unwatch(self.source, self.stream.get_mut());
    }
}
