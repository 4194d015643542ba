//! A line between a client's program and a server's: a stream of bytes in each direction, sent as messages from one
//! private subject to another. Each message has the place of its bytes in the stream, so a lost one is noticed, and
//! tells how many bytes have come from the other side, which bounds what is on its way.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};

use async_nats::{Message, StatusCode, Subject};
use drystone_component::wire::{Limits, Role};
use drystone_kortex::Expected;
use drystone_kortex::peer::{Composites, Line, Names, Offer, Peer};

use drystone_reactor::{Time, weakly};

use super::envelope::{Envelope, Kind};
use super::partner::{MISSES, Partner};
use super::session::Session;
use super::users::{Stream, Written};

/// How long a server may take to answer a new client.
const PATIENCE: Duration = Duration::from_secs(5);

/// Most bytes that are on their way, and how many are taken before the other side is told so.
const WINDOW: u64 = 4 << 20;
const SHARE: u64 = WINDOW / 4;

/// See the head of this file. A client's stream lasts for as long as somebody uses it, a server's until it is over.
pub(super) struct PeerStream {
    me: Weak<PeerStream>,
    session: Rc<Session>,
    number: u64,
    peer: Peer,
    names: Option<Rc<Names>>,
    stage: RefCell<Stage>,
    /// Bytes to the other side: sent, and acknowledged.
    sent: Cell<u64>,
    arrived: Cell<u64>,
    /// Bytes from the other side: received, and acknowledged.
    received: Cell<u64>,
    told: Cell<u64>,
    /// Beats since the last acknowledgement, while bytes are on their way.
    stale: Cell<u32>,
}

enum Stage {
    /// There is no connection to NATS yet, or it isn't known where this name is served.
    Waiting(String),
    /// A server of this name has been asked for.
    Asked {
        name: String,
        is_listed: bool,
        here: Subject,
        time: Time,
    },
    Open(Ends),
    Over,
}

/// The subjects that it joins, and the other program.
struct Ends {
    here: Subject,
    there: Subject,
    partner: Rc<Partner>,
}

impl PeerStream {
    /// A client's stream: begins to look for a server of this name.
    pub(super) fn dial(session: &Rc<Session>, name: &str) -> Rc<PeerStream> {
        let stream = PeerStream::new(session, Role::Dialer, None, Stage::Waiting(name.to_string()));
        session.add(stream.number, stream.me.clone());
        session.wanted(&*stream);
        stream
    }

    /// A server's stream: answers a client that has asked for a server.
    pub(super) fn accept(session: &Rc<Session>, names: &Rc<Names>, there: &Subject, begin: &Envelope<'_>) {
        let stream = PeerStream::new(session, Role::Acceptor, Some(names.clone()), Stage::Over);
        let Some(here) = session.subject(stream.number) else { return };
        if session.is_full() {
            let over =
                Envelope { kind: Kind::Over, sent: 0, received: 0, bytes: b"too many clients are served" };
            return session.say(over.to(there, &here));
        }
        let Some(partner) = session.partner(there) else { return };
        partner.add(stream.me.clone());
        *stream.stage.borrow_mut() = Stage::Open(Ends { here, there: there.clone(), partner });
        session.add(stream.number, stream.me.clone());
        session.keep(stream.number, stream.clone());
        stream.take(begin);
        stream.send_soon();
    }

    fn new(session: &Rc<Session>, role: Role, names: Option<Rc<Names>>, stage: Stage) -> Rc<PeerStream> {
        Rc::new_cyclic(|me| PeerStream {
            me: me.clone(),
            session: session.clone(),
            number: session.number(),
            peer: Peer::new(role, Limits::default()),
            names,
            stage: RefCell::new(stage),
            sent: Cell::default(),
            arrived: Cell::default(),
            received: Cell::default(),
            told: Cell::default(),
            stale: Cell::default(),
        })
    }

    /// No server has answered in time.
    fn give_up_asking(&self) {
        if self.is_asking() {
            let complaint = self.session.complaint();
            let why =
                complaint.map_or_else(|| "it doesn't answer".to_string(), |why| format!("NATS says: {why}"));
            self.lose(&why);
        }
    }

    fn is_asking(&self) -> bool {
        matches!(*self.stage.borrow(), Stage::Asked { .. })
    }

    /// Whether this subject is the other side. The first server that answers becomes that.
    fn meets(&self, from: &Subject) -> bool {
        let stage = &mut *self.stage.borrow_mut();
        match stage {
            Stage::Open(ends) => ends.there == *from,
            Stage::Asked { here, time, .. } => {
                let Some(partner) = self.session.partner(from) else { return false };
                self.session.reactor.cancel(*time);
                partner.add(self.me.clone());
                *stage = Stage::Open(Ends { here: here.clone(), there: from.clone(), partner });
                true
            }
            _ => false,
        }
    }

    /// A message says that the stream is over.
    fn told_over(&self, from: &Subject, why: &[u8]) {
        let is_meant = match &*self.stage.borrow() {
            Stage::Open(ends) => ends.there == *from,
            Stage::Asked { .. } => true,
            _ => false,
        };
        if is_meant {
            self.lose(&String::from_utf8_lossy(&why[..why.len().min(1000)]));
        }
    }

    /// The next bytes have come.
    fn take(&self, envelope: &Envelope<'_>) {
        if let Stage::Open(ends) = &*self.stage.borrow() {
            ends.partner.heard();
        }
        if envelope.sent != self.received.get() {
            return self.end("messages of it were lost on their way");
        }
        if envelope.received > self.arrived.get() {
            if envelope.received > self.sent.get() {
                return self.end("the other side has received more than was sent");
            }
            self.arrived.set(envelope.received);
            self.stale.set(0);
            if self.peer.has_output() {
                self.send_soon();
            }
        }
        if envelope.bytes.is_empty() {
            return;
        }
        self.received.set(self.received.get() + envelope.bytes.len() as u64);
        self.peer.feed(&self.line(), envelope.bytes);
        if let Some(why) = self.peer.failure() {
            // The protocol's own complaint goes first.
            self.write();
            return self.end(&why);
        }
        if self.received.get() - self.told.get() >= SHARE {
            self.acknowledge();
        }
    }

    /// Acknowledges what has come, without bytes.
    fn acknowledge(&self) {
        if let Stage::Open(ends) = &*self.stage.borrow() {
            self.session.say(self.envelope(Kind::Bytes, &[]).to(&ends.there, &ends.here));
        }
    }

    /// The next message, which acknowledges what has come, too.
    fn envelope<'a>(&self, kind: Kind, bytes: &'a [u8]) -> Envelope<'a> {
        self.told.set(self.received.get());
        Envelope { kind, sent: self.sent.get(), received: self.received.get(), bytes }
    }

    /// Ends the stream, and tells the other side why.
    fn end(&self, why: &str) {
        if let Stage::Open(ends) = &*self.stage.borrow() {
            self.session.say(self.envelope(Kind::Over, why.as_bytes()).to(&ends.there, &ends.here));
        }
        self.lose(why);
    }

    fn line(&self) -> Rc<dyn Line> {
        self.me.upgrade().expect("is used through it")
    }
}

impl Stream for PeerStream {
    fn ask(&self) {
        let name = match &*self.stage.borrow() {
            Stage::Waiting(name) => name.clone(),
            _ => return,
        };
        let Some(here) = self.session.subject(self.number) else { return };
        let Some(found) = self.session.place(&name) else { return };
        let Ok(()) = self.peer.output(|bytes| {
            let first = Envelope { kind: Kind::Begin, sent: 0, received: 0, bytes };
            self.session.say(first.to(&found.subject.as_str().into(), &here));
            self.sent.set(bytes.len() as u64);
            Ok::<_, Infallible>(bytes.len())
        });
        let time = self
            .session
            .reactor
            .at(Instant::now() + PATIENCE, weakly(&self.me, |stream| stream.give_up_asking()));
        *self.stage.borrow_mut() = Stage::Asked { name, is_listed: found.is_listed, here, time };
    }

    fn receive(&self, message: &Message) {
        if message.status == Some(StatusCode::NO_RESPONDERS) {
            let why = match &*self.stage.borrow() {
                Stage::Asked { name, is_listed, .. } => {
                    self.peer.was_unheard();
                    self.session.misplaced(name);
                    match is_listed {
                        true => format!("nobody is there for {name}"),
                        false => format!("there is no such name as {name}"),
                    }
                }
                _ => "its program is not there any more".to_string(),
            };
            return self.lose(&why);
        }
        let (Some(from), Some(envelope)) = (&message.reply, Envelope::read(&message.payload)) else { return };
        match envelope.kind {
            Kind::Over => self.told_over(from, envelope.bytes),
            Kind::Bytes if self.meets(from) => self.take(&envelope),
            _ => {}
        }
    }

    fn write(&self) -> Written {
        let written = {
            let Stage::Open(ends) = &*self.stage.borrow() else { return Written::All };
            let largest = self.session.largest();
            self.peer.output(|bytes| {
                let room = (WINDOW - (self.sent.get() - self.arrived.get())).min(largest) as usize;
                if room == 0 {
                    return Err(Written::Unheard);
                }
                if !self.session.has_room() {
                    return Err(Written::Full);
                }
                let count = bytes.len().min(room);
                let envelope = self.envelope(Kind::Bytes, &bytes[..count]);
                self.session.put(envelope.to(&ends.there, &ends.here));
                self.sent.set(self.sent.get() + count as u64);
                Ok(count)
            })
        };
        self.peer.tell(&self.line());
        written.err().unwrap_or(Written::All)
    }

    fn beat(&self) {
        if self.told.get() < self.received.get() {
            self.acknowledge();
        }
        let stale = if self.sent.get() == self.arrived.get() { 0 } else { self.stale.get() + 1 };
        self.stale.set(stale);
        if stale > MISSES {
            self.end("what was sent doesn't arrive");
        }
    }

    fn lose(&self, why: &str) {
        let stage = std::mem::replace(&mut *self.stage.borrow_mut(), Stage::Over);
        match stage {
            Stage::Over => return,
            Stage::Asked { time, .. } => self.session.reactor.cancel(time),
            Stage::Waiting(_) | Stage::Open(_) => {}
        }
        self.peer.lost(&self.line(), why);
        self.session.forget(self.number);
    }

    fn is_over(&self) -> bool {
        matches!(*self.stage.borrow(), Stage::Over)
    }
}

impl Line for PeerStream {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    fn send_soon(&self) {
        if let (Stage::Open(_), Some(stream)) = (&*self.stage.borrow(), self.me.upgrade()) {
            self.session.write_soon(stream);
        }
    }

    fn send_now(&self) {
        self.send_soon();
    }

    fn find(&self, name: &[u8]) -> Option<(Rc<Offer>, usize)> {
        Some((self.names.as_deref()?.find(name)?, 1))
    }

    fn composites(&self) -> Option<&Rc<dyn Composites>> {
        self.names.as_ref().and_then(|_| self.session.composites.as_ref())
    }

    fn expected(&self) -> &Expected {
        self.session.reactor.expected()
    }
}

impl Drop for PeerStream {
    /// Nobody here uses it any more.
    fn drop(&mut self) {
        match self.stage.get_mut() {
            Stage::Open(ends) => {
                let over = Envelope {
                    kind: Kind::Over,
                    sent: self.sent.get(),
                    received: self.received.get(),
                    bytes: b"the client has gone",
                };
                self.session.say(over.to(&ends.there, &ends.here));
            }
            Stage::Asked { time, .. } => self.session.reactor.cancel(*time),
            Stage::Waiting(_) | Stage::Over => {}
        }
        self.session.forget(self.number);
    }
}
