//! A connection over TCP, with the program at its other end. One that was dialed is there for as long as somebody here
//! uses it; one that was accepted until it ends.
//!
//! What comes is read when the reactor says so; what is to be sent waits until the program has nothing else to do, so
//! that many messages go at once.

mod dialing;

use std::cell::{Cell, RefCell};
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use drystone_component::wire::{Limits, Role};
use drystone_kortex::Expected;
use drystone_kortex::peer::{Composites, Line, Offer, Peer};
use mio::net::TcpStream;

use super::credentials::Credentials;
use super::crowd::Guest;
use super::exports::Exports;
use drystone_net::alive::{expect_receipt, keep_alive};
use drystone_net::dial::Addresses;
use drystone_net::place::{Place, Search};
use drystone_net::secure::Channel;
use drystone_reactor::reason;
use drystone_reactor::{Drain, Handler, Reactor, Time, weakly};

/// How long one address may take to be reached.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the other end may take to read why a connection ends.
const FAREWELL: Duration = Duration::from_secs(2);

/// How often a connection is read before others get a turn.
const READS: usize = 16;

/// What is said of a connection that the other end has ended without a word.
const CLOSED: &str = "the other side has closed the connection";

/// See the head of this file.
pub(super) struct Link {
    me: Weak<Link>,
    reactor: Rc<Reactor>,
    peer: Peer,
    /// What is exported to who came in; nothing to whom this program has dialed.
    exports: Option<Rc<Exports>>,
    /// Who came in may ship composite calls.
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

/// What goes over the stream instead of the bytes themselves.
type Cipher = RefCell<Option<Channel>>;

enum Stage {
    /// What does the host's name stand for?
    Searching(Place, Search),
    /// The kernel makes a connection; if it fails, there are other addresses. Until then it may take.
    Connecting(Addresses, Time, Instant),
    Open,
    /// All is over but that the other end may read why.
    Leaving,
    Over,
}

impl Link {
    /// Somebody has come.
    pub(super) fn accepted(
        reactor: &Rc<Reactor>,
        stream: TcpStream,
        exports: &Rc<Exports>,
        credentials: Option<&Credentials>,
    ) -> io::Result<()> {
        let link = Link::new(reactor, Role::Acceptor, Some(exports.clone()));
        *link.cipher.borrow_mut() = credentials.map(Credentials::accept).transpose()?;
        let source = link.watch(stream)?;
        // Nobody else keeps it.
        reactor.handle(source, link.clone());
        exports.crowd.add(link.me.clone());
        link.open();
        Ok(())
    }

    fn new(reactor: &Rc<Reactor>, role: Role, exports: Option<Rc<Exports>>) -> Rc<Link> {
        Rc::new_cyclic(|me| Link {
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

    /// The other end has had time to say something.
    fn wants_hello(&self) {
        if self.waits_for_hello() {
            self.lose("it doesn't answer");
        }
    }

    /// The other end has said nothing yet.
    fn waits_for_hello(&self) -> bool {
        !self.peer.has_greeted()
    }

    fn watch(&self, mut stream: TcpStream) -> io::Result<usize> {
        keep_alive(&stream);
        expect_receipt(&stream);
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
        if let Some(socket) = &*self.socket.borrow() {
            // Bytes are collected here; the kernel needn't do so again.
            let _ = socket.stream.set_nodelay(true);
        }
        *self.stage.borrow_mut() = Stage::Open;
        self.send_soon();
        self.reactor.at(Instant::now() + PATIENCE, weakly(&self.me, |link| link.wants_hello()));
    }

    /// Goes on with whatever it is at.
    fn go_on(&self) {
        let stage = std::mem::replace(&mut *self.stage.borrow_mut(), Stage::Over);
        match stage {
            Stage::Searching(place, search) => match search.result() {
                None => *self.stage.borrow_mut() = Stage::Searching(place, search),
                Some(Ok(addresses)) => {
                    self.next_address(Addresses::new(addresses, &format!("{} has no address", place.host)));
                }
                Some(Err(error)) => self.lose(&reason(&error)),
            },
            Stage::Connecting(mut addresses, time, until) => {
                let failure = match self.connected() {
                    None if Instant::now() < until => {
                        *self.stage.borrow_mut() = Stage::Connecting(addresses, time, until);
                        return;
                    }
                    None => "it doesn't answer".to_string(),
                    Some(Err(error)) => reason(&error),
                    Some(Ok(())) => {
                        self.reactor.cancel(time);
                        self.open();
                        return self.read();
                    }
                };
                self.reactor.cancel(time);
                self.unwatch();
                addresses.fail(failure);
                self.next_address(addresses);
            }
            Stage::Open => {
                *self.stage.borrow_mut() = Stage::Open;
                self.read();
            }
            Stage::Leaving => {
                *self.stage.borrow_mut() = Stage::Leaving;
                self.discard();
            }
            Stage::Over => {}
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

    /// So many bytes have come, or wait to be sent.
    fn holds_more(&self, bytes: usize) {
        if let Some(exports) = &self.exports {
            exports.crowd.grow(bytes);
        }
    }

    /// Goes on when others have had a turn.
    fn come_back(&self) {
        if let Some(socket) = &*self.socket.borrow() {
            self.reactor.come_back(socket.source);
        }
    }

    /// Whether a read would block for certain.
    fn is_dry(&self) -> bool {
        self.socket.borrow().as_ref().is_some_and(|socket| self.reactor.is_dry(socket.source))
    }

    /// A read gave less than there was room for; of what is enciphered that says nothing.
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

    /// All is over but what the other end has still to be told, for which it has not long.
    fn part(&self) {
        self.is_over.set(true);
        self.send_soon();
        let link = self.me.upgrade().expect("is used through it");
        self.reactor.at(Instant::now() + FAREWELL, Rc::new(Limit(link)));
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
        // Who uses it still may do so for long: until it has taken what has come.
        self.unwatch();
        if let Some(link) = self.me.upgrade() {
            let line: Rc<dyn Line> = link;
            self.peer.lost(&line, why);
        }
    }
}

impl Line for Link {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    /// A write takes the kernel as long as hundreds of messages take the program.
    fn much(&self) -> usize {
        16 * 1024
    }

    fn send_soon(&self) {
        if let (Stage::Open, Some(socket), Some(link)) =
            (&*self.stage.borrow(), &*self.socket.borrow(), self.me.upgrade())
        {
            self.reactor.drain_later(socket.source, link);
        }
    }

    fn send_now(&self) {
        if matches!(*self.stage.borrow(), Stage::Open) && !self.is_full.get() {
            // What the kernel doesn't take now goes when it does; what else is wrong is said then, too.
            self.is_full.set(self.write().is_err());
        }
    }

    fn find(&self, name: &[u8]) -> Option<(Rc<Offer>, usize)> {
        Some((self.exports.as_ref()?.names.find(name)?, 1))
    }

    fn composites(&self) -> Option<&Rc<dyn Composites>> {
        let exports = self.exports.as_ref().filter(|_| self.takes_composites);
        exports.map(|exports| &exports.composites)
    }

    fn expected(&self) -> &Expected {
        self.reactor.expected()
    }
}

impl Guest for Link {
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

impl Drain for Link {
    fn drain(&self) -> bool {
        if !matches!(*self.stage.borrow(), Stage::Open) {
            return true;
        }
        let written = self.write();
        self.is_full.set(written.is_err());
        if let Some(link) = self.me.upgrade() {
            let line: Rc<dyn Line> = link;
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

impl Handler for Link {
    fn ready(&self) {
        self.go_on();
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.unwatch();
    }
}

/// Ends a link whose other end does not read why it ends.
struct Limit(Rc<Link>);

impl Handler for Limit {
    fn ready(&self) {
        self.0.lose("it is over");
    }
}

/// Tries once more what was interrupted.
fn again<T>(mut what: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match what() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
