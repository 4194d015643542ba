//! What comes and goes over a connection: the messages of lines, and that this program is still there.

use std::mem::take;
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll};
use std::time::Instant;

use async_nats::Message;
use async_nats::message::OutboundMessage;
use futures_util::{Sink, StreamExt};

use super::{Session, Stage, alive};
use crate::envelope::{Envelope, Kind};
use crate::link::{Link, Written};
use crate::partner::{ALIVE, BEAT};
use drystone_reactor::{Drain, weakly};

/// Messages that are taken before others get a turn.
const TURN: usize = 1024;

impl Session {
    /// Takes what has come.
    pub(super) fn read(&self) {
        let mut taken = 0;
        while taken < TURN
            && let Some(message) = self.next()
        {
            self.receive(&message);
            taken += 1;
        }
        self.serve();
        if taken < TURN {
            return self.look_after();
        }
        if let Stage::Open(open) = &*self.stage.borrow() {
            open.bell.ring();
        }
    }

    pub(super) fn next(&self) -> Option<Message> {
        let Stage::Open(open) = &mut *self.stage.borrow_mut() else { return None };
        match open.inbox.poll_next_unpin(&mut Context::from_waker(&open.waker)) {
            Poll::Ready(message) => message,
            Poll::Pending => None,
        }
    }

    /// Lets clients in.
    pub(super) fn serve(&self) {
        let Some(waker) = self.waker() else { return };
        let context = &mut Context::from_waker(&waker);
        self.exports().iter().for_each(|export| export.serve(context));
        alive(&self.ears).iter().for_each(|ear| ear.serve(context));
        if self.seeks.take() {
            self.lines().iter().for_each(|link| link.ask());
        }
    }

    /// Sees whether the connection is still there, after what came over it.
    pub(super) fn look_after(&self) {
        let failure = match &*self.stage.borrow() {
            Stage::Open(open) => open.bell.failure(),
            _ => None,
        };
        if let Some(why) = failure {
            self.cut(&why);
        }
    }

    pub(super) fn receive(&self, message: &Message) {
        let place = message.subject.rsplit_once('.').map_or("", |(_, place)| place);
        if let Ok(number) = place.parse::<u64>() {
            let link = self.lines.borrow().get(&number).and_then(Weak::upgrade);
            return match link {
                Some(link) => link.receive(message),
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
            partner.links().iter().for_each(|link| link.lose("its program is not there any more"));
        }
    }

    /// Who talks to a line that is over is told so.
    pub(super) fn decline(&self, message: &Message) {
        if let (Some(from), Some(envelope)) = (&message.reply, Envelope::read(&message.payload))
            && envelope.kind == Kind::Bytes
        {
            let over = Envelope { kind: Kind::Over, sent: 0, received: 0, bytes: b"it is over" };
            self.say(over.to(from, &message.subject));
        }
    }

    /// Time has passed.
    pub(super) fn beat(&self) {
        let (said, missed) = self.partners.beat();
        said.into_iter().for_each(|message| self.say(message));
        for partner in missed {
            partner.links().iter().for_each(|link| link.lose("its program doesn't answer any more"));
        }
        self.lines().iter().for_each(|link| link.beat());
        let (ears, voices) = (alive(&self.ears), alive(&self.voices));
        ears.iter().for_each(|ear| ear.beat());
        voices.iter().for_each(|voice| voice.beat());
        self.beats.set(false);
        if !(self.partners.is_empty() && ears.is_empty() && voices.is_empty()) {
            self.beat_later();
        }
    }

    pub(super) fn beat_later(&self) {
        if !self.beats.replace(true) {
            self.reactor.at(Instant::now() + BEAT, weakly(&self.me, |session| session.beat()));
        }
    }

    /// Most bytes of a message.
    pub(crate) fn most(&self) -> usize {
        match &*self.stage.borrow() {
            Stage::Open(open) => open.most,
            _ => 0,
        }
    }

    /// How many messages wait that belong to no line's stream.
    pub(crate) fn waiting(&self) -> usize {
        self.outbox.borrow().len()
    }

    /// Most bytes of a line in one message.
    pub(crate) fn largest(&self) -> u64 {
        match &*self.stage.borrow() {
            Stage::Open(open) => open.largest,
            _ => 0,
        }
    }

    /// Whether the engine takes one more message; if not, it rings the bell when it does.
    pub(crate) fn has_room(&self) -> bool {
        let Stage::Open(open) = &mut *self.stage.borrow_mut() else { return false };
        let client = Pin::new(&mut open.client);
        // If it has ended, what it is given is lost, and the bell will say so.
        !client.poll_ready(&mut Context::from_waker(&open.waker)).is_pending()
    }

    /// Gives the engine a message; there must be room.
    pub(crate) fn put(&self, message: OutboundMessage) {
        if let Stage::Open(open) = &mut *self.stage.borrow_mut() {
            let _ = Pin::new(&mut open.client).start_send(message);
        }
    }

    /// Sends a message that belongs to no line's stream, when there is room; not if there is no connection.
    pub(crate) fn say(&self, message: OutboundMessage) {
        if !self.is_open() {
            return;
        }
        self.outbox.borrow_mut().push_back(message);
        self.write_later();
    }

    /// The line has something to send.
    pub(crate) fn write_soon(&self, link: Rc<Link>) {
        self.ready.borrow_mut().push_back(link);
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
        let had_mail = self.waiting() > 0;
        while self.waiting() > 0 && self.has_room() {
            let message = self.outbox.borrow_mut().pop_front();
            message.into_iter().for_each(|message| self.put(message));
        }
        if had_mail {
            alive(&self.voices).iter().for_each(|voice| voice.wake());
        }
        while let Some(link) = self.next_ready() {
            match link.write() {
                Written::All => {}
                Written::Unheard => self.stuck.borrow_mut().push(link),
                Written::Full => {
                    self.ready.borrow_mut().push_front(link);
                    break;
                }
            }
        }
    }

    pub(super) fn next_ready(&self) -> Option<Rc<Link>> {
        self.ready.borrow_mut().pop_front()
    }

    pub(super) fn has_rest(&self) -> bool {
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

/// What couldn't be sent yet: the program doesn't end before it is.
struct Rest(Rc<Session>);

impl Drain for Rest {
    fn drain(&self) -> bool {
        !self.0.has_rest()
    }

    fn give_up(&self) {}
}
