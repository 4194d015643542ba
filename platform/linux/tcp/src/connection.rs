//! A connection over TCP or TLS with the program at its other end. One that was dialled lasts for as long as somebody
//! here uses it, one that was accepted until it ends.
//!
//! Input is read when the reactor says so. Output waits until the program has nothing else to do, so that many messages
//! go at once.

use std::cell::{Cell, RefCell};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown};
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use drystone_component::wire::{Limits, Role};
use drystone_kortex::Expected;
use drystone_kortex::peer::{Composites, Line, Offer, Peer};
use drystone_net::alive::expect_receipt;
use drystone_net::dial::{Dial, Permit};
use drystone_net::place::Place;
use drystone_net::secure::Channel;
use drystone_reactor::{Drain, Handler, Reactor, reason, weakly};
use mio::net::TcpStream;

use super::credentials::{Credentials, permit};
use super::exports::Exports;
use super::memory::Holder;

/// How long the other end may take to send its greeting.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the other end may take to read why a connection ends.
const FAREWELL: Duration = Duration::from_secs(2);

/// Reads of a connection in a row, before other connections have a turn.
const READS: usize = 16;

/// The reason where the other end has closed the connection without giving one.
const CLOSED: &str = "the other side has closed the connection";

/// See the head of this file.
pub(super) struct Connection {
    me: Weak<Connection>,
    reactor: Rc<Reactor>,
    peer: Peer,
    /// What the other end may ask for; `None` if this program has dialled.
    exports: Option<Rc<Exports>>,
    /// The other end may ship composite calls.
    takes_composites: bool,
    socket: RefCell<Option<Socket>>,
    cipher: Cipher,
    stage: RefCell<Stage>,
    is_over: Cell<bool>,
    /// The kernel has taken less than there was.
    is_full: Cell<bool>,
}

struct Socket {
    stream: TcpStream,
    source: usize,
}

/// TLS, if the two ends use it.
type Cipher = RefCell<Option<Channel>>;

enum Stage {
    Dialling(#[expect(dead_code, reason = "dropped, it is given up")] Rc<Dial>),
    Open,
    /// It is over, but the other end may still read why.
    Leaving,
    Over,
}

impl Connection {
    /// Another program has connected.
    ///
    /// # Errors
    /// The system has no room for one more.
    pub(super) fn accept(reactor: &Rc<Reactor>, stream: TcpStream, exports: &Rc<Exports>) -> io::Result<()> {
        let connection = Connection::new(reactor, Role::Acceptor, Some(exports.clone()));
        *connection.cipher.borrow_mut() =
            exports.credentials.as_deref().map(Credentials::accept).transpose()?;
        let source = connection.watch(stream)?;
        // Only the reactor keeps it.
        reactor.handle(source, connection.clone());
        exports.memory.add(connection.me.clone());
        connection.open();
        Ok(())
    }

    /// Begins to dial another program.
    pub(super) fn dial(
        reactor: &Rc<Reactor>,
        place: &Place,
        credentials: Option<&Credentials>,
    ) -> Rc<Connection> {
        let connection = Connection::new(reactor, Role::Dialer, None);
        match credentials.map(|credentials| credentials.dial(&place.host)).transpose() {
            Ok(cipher) => *connection.cipher.borrow_mut() = cipher,
            Err(why) => {
                connection.lose(&why);
                return connection;
            }
        }
        let permit: Permit = if credentials.is_some() { |_: IpAddr| Ok(()) } else { permit };
        let me = connection.me.clone();
        let dial = Dial::begin(reactor, place.addresses(place.port.unwrap_or(0)), permit, move |dialled| {
            me.upgrade().inspect(|connection| connection.dialled(dialled));
        });
        *connection.stage.borrow_mut() = Stage::Dialling(dial);
        connection
    }

    fn dialled(&self, dialled: Result<TcpStream, String>) {
        match dialled.and_then(|stream| self.watch(stream).map_err(|error| reason(&error))) {
            Ok(source) => {
                self.reactor.handle(source, weakly(&self.me, |connection| connection.go_on()));
                self.open();
            }
            Err(why) => self.lose(&why),
        }
    }

    fn new(reactor: &Rc<Reactor>, role: Role, exports: Option<Rc<Exports>>) -> Rc<Connection> {
        Rc::new_cyclic(|me| Connection {
            me: me.clone(),
            reactor: reactor.clone(),
            peer: Peer::new(role, Limits::default()),
            takes_composites: exports.as_ref().is_some_and(|exports| exports.takes_composites.get()),
            exports,
            socket: RefCell::new(None),
            cipher: RefCell::new(None),
            stage: RefCell::new(Stage::Over),
            is_over: Cell::new(false),
            is_full: Cell::new(false),
        })
    }

    /// Whether nothing can go over it any more.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    fn line(&self) -> Rc<dyn Line> {
        self.me.upgrade().expect("is used through it")
    }

    fn watch(&self, mut stream: TcpStream) -> io::Result<usize> {
        expect_receipt(&stream);
        // Bytes are collected here; the kernel needn't do so again.
        let _ = stream.set_nodelay(true);
        let source = self.reactor.watch(&mut stream)?;
        *self.socket.borrow_mut() = Some(Socket { stream, source });
        Ok(source)
    }

    fn unwatch(&self) {
        if let Some(Socket { mut stream, source }) = self.socket.borrow_mut().take() {
            self.reactor.unwatch(source, &mut stream);
        }
    }

    fn open(&self) {
        *self.stage.borrow_mut() = Stage::Open;
        self.send_soon();
        self.reactor
            .at(Instant::now() + PATIENCE, weakly(&self.me, |connection| connection.expect_greeting()));
    }

    /// The other end has had its time to send a greeting.
    fn expect_greeting(&self) {
        if !self.peer.has_greeted() {
            self.lose("it doesn't answer");
        }
    }

    /// The kernel has something to say of it.
    fn go_on(&self) {
        let (is_open, is_leaving) = {
            let stage = &*self.stage.borrow();
            (matches!(stage, Stage::Open), matches!(stage, Stage::Leaving))
        };
        if is_open {
            self.read();
        } else if is_leaving {
            self.discard();
        }
    }

    /// Reads what has come.
    fn read(&self) {
        let mut come = 0;
        self.read_some(&mut come);
        self.holds_more(come);
    }

    fn read_some(&self, come: &mut usize) {
        if self.peer.failure().is_some() {
            return self.discard();
        }
        let line = self.line();
        for _ in 0..READS {
            if self.is_dry() {
                return;
            }
            let scratch = &mut *self.reactor.scratch.borrow_mut();
            let read = self.read_into(scratch);
            if self.cipher.borrow().as_ref().is_some_and(Channel::wants_write) {
                self.send_soon();
            }
            match read {
                Ok(0) => return self.lose(CLOSED),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return self.lose(CLOSED),
                Ok(count) => {
                    if count < scratch.len() {
                        self.is_dry_now();
                    }
                    self.peer.feed(&line, &scratch[..count]);
                    *come += count;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => return self.lose(&reason(&error)),
            }
            if self.peer.failure().is_some() {
                self.part();
                return self.discard();
            }
        }
        self.come_back();
    }

    /// So many bytes more are held: they have come, or wait to be sent.
    fn holds_more(&self, bytes: usize) {
        if let Some(exports) = &self.exports {
            exports.memory.grow(bytes);
        }
    }

    /// Goes on when other connections have had a turn.
    fn come_back(&self) {
        if let Some(socket) = &*self.socket.borrow() {
            self.reactor.come_back(socket.source);
        }
    }

    /// Whether a read would block for certain.
    fn is_dry(&self) -> bool {
        self.socket.borrow().as_ref().is_some_and(|socket| self.reactor.is_dry(socket.source))
    }

    /// A read gave less than there was room for. With TLS that says nothing.
    fn is_dry_now(&self) {
        if let (Some(socket), None) = (&*self.socket.borrow(), &*self.cipher.borrow()) {
            self.reactor.is_dry_now(socket.source);
        }
    }

    /// Reads on until the other end has read why this one has ended the connection: closed earlier, it might not get
    /// there.
    fn discard(&self) {
        let mut bytes = [0; 4096];
        for _ in 0..READS {
            match self.read_into(&mut bytes) {
                Ok(1..) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                _ => return self.lose("it is over"),
            }
        }
        self.come_back();
    }

    fn read_into(&self, bytes: &mut [u8]) -> io::Result<usize> {
        let mut socket = self.socket.borrow_mut();
        let Some(socket) = &mut *socket else { return Ok(0) };
        let mut cipher = self.cipher.borrow_mut();
        again(|| match &mut *cipher {
            Some(channel) => channel.read(&mut socket.stream, bytes),
            None => socket.stream.read(bytes),
        })
    }

    /// Sends what there is.
    fn write(&self) -> io::Result<()> {
        let (mut socket, mut cipher) = (self.socket.borrow_mut(), self.cipher.borrow_mut());
        let Some(Socket { stream, .. }) = &mut *socket else { return Ok(()) };
        let taken = self.peer.output(|bytes| {
            again(|| match &mut *cipher {
                Some(channel) => channel.write(stream, bytes),
                None => stream.write(bytes),
            })
        });
        match &mut *cipher {
            Some(channel) => again(|| channel.flush(stream)).and(taken),
            None => taken,
        }
    }

    /// It is over, but the other end is still told why, within a time limit.
    fn part(&self) {
        self.is_over.set(true);
        self.send_soon();
        let connection = self.me.upgrade().expect("is used through it");
        self.reactor.at(Instant::now() + FAREWELL, Rc::new(Limit(connection)));
    }

    /// The other end has been told that this is over.
    fn leave(&self) {
        *self.stage.borrow_mut() = Stage::Leaving;
        if let Some(socket) = &*self.socket.borrow() {
            // It may be gone already.
            let _ = socket.stream.shutdown(Shutdown::Write);
        }
    }

    /// Nothing can go over it any more, for this reason.
    fn lose(&self, why: &str) {
        *self.stage.borrow_mut() = Stage::Over;
        self.is_over.set(true);
        // Its users may keep it for long, until they have taken what has come.
        self.unwatch();
        if let Some(connection) = self.me.upgrade() {
            let line: Rc<dyn Line> = connection;
            self.peer.lost(&line, why);
        }
    }
}

impl Line for Connection {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    /// A write takes the kernel as long as hundreds of messages take the program.
    fn much(&self) -> usize {
        16 * 1024
    }

    fn send_soon(&self) {
        if let (Stage::Open, Some(socket), Some(connection)) =
            (&*self.stage.borrow(), &*self.socket.borrow(), self.me.upgrade())
        {
            self.reactor.drain_later(socket.source, connection);
        }
    }

    fn send_now(&self) {
        if matches!(*self.stage.borrow(), Stage::Open) && !self.is_full.get() {
            // What the kernel doesn't take now goes later; any other error is seen then, too.
            self.is_full.set(self.write().is_err());
        }
    }

    fn find(&self, name: &[u8]) -> Option<(Rc<Offer>, usize)> {
        Some((self.exports.as_ref()?.names.find(name)?, 1))
    }

    fn composites(&self) -> Option<&Rc<dyn Composites>> {
        self.exports.as_ref().filter(|_| self.takes_composites)?.composites.as_ref()
    }

    fn expected(&self) -> &Expected {
        self.reactor.expected()
    }
}

impl Holder for Connection {
    fn held(&self) -> usize {
        self.peer.held()
    }

    fn evict(&self, why: &str) {
        let is_open = self.peer.failure().is_none();
        self.peer.evict(&self.line(), why);
        if is_open {
            self.part();
        }
    }
}

impl Drain for Connection {
    fn drain(&self) -> bool {
        if !matches!(*self.stage.borrow(), Stage::Open) {
            return true;
        }
        let written = self.write();
        self.is_full.set(written.is_err());
        if let Some(connection) = self.me.upgrade() {
            let line: Rc<dyn Line> = connection;
            self.peer.tell(&line);
        }
        match written {
            Ok(()) if self.peer.failure().is_some() => self.leave(),
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.holds_more(self.peer.waits());
                return false;
            }
            Err(error) => self.lose(&reason(&error)),
        }
        true
    }

    fn give_up(&self) {
        self.lose("the other side reads no more");
    }
}

impl Handler for Connection {
    fn ready(&self) {
        self.go_on();
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.unwatch();
    }
}

/// Ends a connection whose other end doesn't read why it ends.
struct Limit(Rc<Connection>);

impl Handler for Limit {
    fn ready(&self) {
        self.0.lose("it is over");
    }
}

/// Repeats a system call that was interrupted.
fn again<T>(mut what: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match what() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
