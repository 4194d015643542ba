//! The publisher of a topic's events.

use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher, RandomState};
use std::mem::replace;
use std::rc::Rc;

use async_nats::message::OutboundMessage;
use drystone_reactor::Expectation;
use drystone_runtime::far::{Arrival, Exported, Far, Filling, Outgoing, Waker};

use super::event_message::{EventMessage, Kind};
use super::event_topic::Topic;
use super::users::User;

/// Messages that may wait to be sent before the publisher waits.
const OUTBOX: usize = 1024;

/// An exported topic: it brings one client, which gets all that the component sends.
pub(super) struct Publication {
    topic: Topic,
    has_begun: bool,
}

impl Publication {
    /// Nothing is published yet.
    pub(super) fn new(topic: Topic) -> Publication {
        Publication { topic, has_begun: false }
    }
}

impl Exported for Publication {
    fn attach(&mut self, _: Waker) {}

    fn accept(&mut self) -> Option<Box<dyn Far>> {
        if replace(&mut self.has_begun, true) {
            return None;
        }
        let topic = self.topic.clone();
        let number = RandomState::new().hash_one(&topic.subject);
        let (sent, pump) = Default::default();
        let publisher = Rc::new(Publisher { topic, number, sent, pump });
        let Topic { session, .. } = &self.topic;
        session.add_user(publisher.clone());
        Some(Box::new(Publishing { publisher, failure: None, _may_come: session.reactor.expect() }))
    }
}

/// The publisher, as its session knows it.
struct Publisher {
    topic: Topic,
    /// Tells it from other publishers of the topic.
    number: u64,
    /// How many events it has sent.
    sent: Cell<u64>,
    pump: RefCell<Option<Waker>>,
}

impl Publisher {
    fn say(&self, kind: Kind, values: impl FnOnce(&mut Vec<u8>) -> Result<(), String>) -> Result<(), String> {
        let Topic { session, interface, .. } = &self.topic;
        let number = self.sent.get();
        let fingerprint = interface.fingerprint.to_bytes();
        let message = EventMessage { kind, publisher: self.number, number, fingerprint, values: &[] };
        let mut payload = message.head();
        values(&mut payload)?;
        let (length, most) = (payload.len(), session.most());
        if length > most && session.is_open() {
            return Err(format!("an event of {length} bytes is too long: this NATS takes at most {most}"));
        }
        self.sent.set(number + u64::from(kind != Kind::Alive));
        let subject = self.topic.subject.as_str().into();
        session.say(OutboundMessage { subject, reply: None, payload: payload.into(), headers: None });
        Ok(())
    }
}

impl User for Publisher {
    fn wake(&self) {
        self.pump.borrow().iter().for_each(Waker::wake);
    }

    fn needs_connection(&self) -> bool {
        true
    }

    fn has_beats(&self) -> bool {
        true
    }

    fn beat(&self) {
        let _ = self.say(Kind::Alive, |_| Ok(()));
    }
}

/// The publisher, as the runtime knows it.
struct Publishing {
    publisher: Rc<Publisher>,
    failure: Option<String>,
    _may_come: Expectation,
}

impl Far for Publishing {
    fn attach(&mut self, pump: Waker) {
        *self.publisher.pump.borrow_mut() = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        self.publisher.topic.session.waiting() < OUTBOX
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        let kind = Kind::Message(message as u32);
        if let Err(why) = self.publisher.say(kind, |out| values.encode(out)) {
            self.failure = Some(format!("{}: {why}", self.publisher.topic.name));
            self.publisher.wake();
        }
    }

    fn receive(&mut self) -> Arrival {
        self.failure.clone().map_or(Arrival::Nothing, Arrival::Lost)
    }

    fn take(&mut self, _: &mut Filling<'_>) -> Result<(), String> {
        Err("nothing comes from those who listen".into())
    }

    fn close(&mut self) {}
}

impl Drop for Publishing {
    fn drop(&mut self) {
        let _ = self.publisher.say(Kind::Over, |_| Ok(()));
    }
}
