//! What comes and goes over a connection: the messages of streams, and beats.

use std::mem::take;
use std::rc::{Rc, Weak};
use std::task::Context;
use std::time::Instant;

use async_nats::Message;
use async_nats::message::OutboundMessage;
use drystone_reactor::{Drain, weakly};

use super::Session;
use crate::envelope::{Envelope, Kind};
use crate::partner::{ALIVE, BEAT};
use crate::users::{Stream, Written};

/// Most messages that are taken before the program goes on.
const TURN: usize = 1024;

impl Session {
    /// Takes what has come.
    pub(super) fn read(&self) {
        let mut taken = 0;
        while taken < TURN
            && let Some(message) = self.with_open(|open| open.next()).flatten()
        {
            self.receive(&message);
            taken += 1;
        }
        self.serve();
        if taken < TURN {
            return self.check();
        }
        self.with_open(|open| open.bell.ring());
    }

    fn serve(&self) {
        let Some(waker) = self.with_open(|open| open.waker.clone()) else { return };
        let context = &mut Context::from_waker(&waker);
        self.users().iter().for_each(|user| user.serve(context));
        if self.seeks.take() {
            self.streams().iter().for_each(|stream| stream.ask());
        }
    }

    /// Sees whether the connection is still there, after all that came over it was taken.
    fn check(&self) {
        if let Some(why) = self.with_open(|open| open.bell.failure()).flatten() {
            self.cut(&why);
        }
    }

    fn receive(&self, message: &Message) {
        let place = message.subject.rsplit_once('.').map_or("", |(_, place)| place);
        if let Ok(number) = place.parse::<u64>() {
            let stream = self.streams.borrow().get(&number).and_then(Weak::upgrade);
            return match stream {
                Some(stream) => stream.receive(message),
                None => self.decline(message),
            };
        }
        if place == ALIVE {
            if let Some(from) = &message.reply {
                self.partners.heard(from);
            }
        } else if message.status.is_some()
            && let Some(partner) = self.partners.met_at(&message.subject)
        {
            partner.streams().iter().for_each(|stream| stream.lose("its program is not there any more"));
        }
    }

    /// Tells the other side that this stream is over.
    fn decline(&self, message: &Message) {
        if let (Some(from), Some(envelope)) = (&message.reply, Envelope::read(&message.payload))
            && envelope.kind == Kind::Bytes
        {
            let over = Envelope { kind: Kind::Over, sent: 0, received: 0, bytes: b"it is over" };
            self.say(over.to(from, &message.subject));
        }
    }

    fn beat(&self) {
        let (said, missed) = self.partners.beat();
        said.into_iter().for_each(|message| self.say(message));
        for partner in missed {
            partner.streams().iter().for_each(|stream| stream.lose("its program doesn't answer any more"));
        }
        self.streams().iter().for_each(|stream| stream.beat());
        let users = self.users();
        users.iter().for_each(|user| user.beat());
        self.beats.set(false);
        if !self.partners.is_empty() || users.iter().any(|user| user.has_beats()) {
            self.beat_later();
        }
    }

    /// Sees to it that [`BEAT`] later streams and users are told.
    pub(super) fn beat_later(&self) {
        if !self.beats.replace(true) {
            self.reactor.at(Instant::now() + BEAT, weakly(&self.me, |session| session.beat()));
        }
    }

    /// Most bytes of a message.
    pub(crate) fn most(&self) -> usize {
        self.with_open(|open| open.most).unwrap_or(0)
    }

    /// Most bytes of a stream in one message.
    pub(crate) fn largest(&self) -> u64 {
        self.with_open(|open| open.largest).unwrap_or(0)
    }

    /// How many messages wait that belong to no stream's bytes.
    pub(crate) fn waiting(&self) -> usize {
        self.outbox.borrow().len()
    }

    /// Whether the engine takes one more message; if not, the bell rings when it does.
    pub(crate) fn has_room(&self) -> bool {
        self.with_open(|open| open.has_room()).unwrap_or(false)
    }

    /// Gives the engine a message; there must be room.
    pub(crate) fn put(&self, message: OutboundMessage) {
        self.with_open(|open| open.put(message));
    }

    /// Sends a message that belongs to no stream's bytes, when there is room; not if there is no connection.
    pub(crate) fn say(&self, message: OutboundMessage) {
        if !self.is_open() {
            return;
        }
        self.outbox.borrow_mut().push_back(message);
        self.write_later();
    }

    /// The stream has something to send.
    pub(crate) fn write_soon(&self, stream: Rc<dyn Stream>) {
        self.ready.borrow_mut().push_back(stream);
        self.write_later();
    }

    pub(super) fn write_later(&self) {
        if let Some(me) = self.me.upgrade() {
            self.reactor.drain_later(self.source, me);
        }
    }

    /// Sends what there is.
    pub(super) fn write_all(&self) {
        if !self.is_open() {
            return;
        }
        let stuck = take(&mut *self.stuck.borrow_mut());
        self.ready.borrow_mut().extend(stuck);
        let had_messages = self.waiting() > 0;
        while self.waiting() > 0 && self.has_room() {
            let message = self.outbox.borrow_mut().pop_front();
            message.into_iter().for_each(|message| self.put(message));
        }
        if had_messages {
            self.users().iter().for_each(|user| user.wake());
        }
        while let Some(stream) = self.next_ready() {
            match stream.write() {
                Written::All => {}
                Written::Unheard => self.stuck.borrow_mut().push(stream),
                Written::Full => {
                    self.ready.borrow_mut().push_front(stream);
                    break;
                }
            }
        }
    }

    fn next_ready(&self) -> Option<Rc<dyn Stream>> {
        self.ready.borrow_mut().pop_front()
    }

    /// Whether output waits.
    fn has_rest(&self) -> bool {
        let is_empty =
            self.waiting() == 0 && self.ready.borrow().is_empty() && self.stuck.borrow().is_empty();
        self.is_open() && !is_empty
    }
}

impl Drain for Session {
    fn drain(&self) -> bool {
        self.write_all();
        if let (true, Some(me)) = (self.has_rest(), self.me.upgrade()) {
            self.reactor.drain_later(self.rest, Rc::new(Rest(me)));
        }
        true
    }

    fn give_up(&self) {}
}

/// Output that waits: the program doesn't end before it is sent.
struct Rest(Rc<Session>);

impl Drain for Rest {
    fn drain(&self) -> bool {
        !self.0.has_rest()
    }

    fn give_up(&self) {}
}
