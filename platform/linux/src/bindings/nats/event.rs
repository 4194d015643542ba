//! Events for many programs, `event+nats://host:4222/prices`: what a component sends once comes to everyone who is
//! connected to that name at that NATS, as for `event:` within a program. Nobody waits for those who listen. Who misses
//! something loses the communication, unless it has said `BY Event(lossy: TRUE)`.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;
use std::task::{Context, Poll};

use async_nats::message::OutboundMessage;
use async_nats::{Message, Subscriber};
use drystone_component::{Interface, Name};
use drystone_kortex::event::castable;
use drystone_runtime::binding::{BindingFactory, Edge, Hints, NamingContext};
use drystone_runtime::far::{Arrival, Exported, Far, Filling, Outgoing, Reach, Waker};
use futures_util::StreamExt;

use super::Sessions;
use super::access::Access;
use super::engine::Task;
use super::partner::MISSES;
use super::saying::{Saying, What};
use super::session::{Open, Session};
use crate::reactor::Expectation;

/// Events that wait for a client, unless BY says otherwise.
const CAPACITY: u32 = 1024;

/// Messages that wait to be sent.
const OUTBOX: usize = 1024;

/// The naming context, and its binding factory.
pub(in crate::bindings) struct Events {
    sessions: Rc<Sessions>,
}

impl Events {
    pub(in crate::bindings) fn new(sessions: &Rc<Sessions>) -> Events {
        Events { sessions: sessions.clone() }
    }

    fn topic(
        &self,
        interface: &'static Interface,
        name: Name<'_>,
        hints: &Hints<'_>,
    ) -> Result<Topic, String> {
        castable(interface)?;
        let (access, subject) = Access::read(name.rest(), hints)?;
        let session = self.sessions.get(access);
        Ok(Topic { session, subject, name: name.to_string().into(), interface })
    }
}

/// What a name means.
#[derive(Clone)]
struct Topic {
    session: Rc<Session>,
    subject: String,
    name: Rc<str>,
    interface: &'static Interface,
}

impl BindingFactory for Events {
    fn bind(
        &mut self,
        interface: &'static Interface,
        name: Name<'_>,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Reach>, String> {
        let lossy = hints.factories.iter().find_map(|factory| factory.boolean("lossy").transpose());
        let capacity = hints.capacity()?.unwrap_or(CAPACITY) as usize;
        let topic = self.topic(interface, name, hints)?;
        Ok(Box::new(Subscription { topic, capacity, lossy: lossy.transpose()?.unwrap_or(false) }))
    }
}

impl NamingContext for Events {
    fn export(
        &mut self,
        interface: &'static Interface,
        name: Name<'_>,
        hints: &Hints<'_>,
    ) -> Result<Box<dyn Exported>, String> {
        let topic = self.topic(interface, name, hints)?;
        topic.session.connect_now()?;
        Ok(Box::new(Platform { topic, has_spoken: false }))
    }

    fn resolve<'n>(&mut self, _: Name<'n>) -> Result<Edge<'_, 'n>, String> {
        Ok(Edge::Interface(self))
    }
}

struct Subscription {
    topic: Topic,
    capacity: usize,
    lossy: bool,
}

impl Reach for Subscription {
    fn begin(&mut self) -> Box<dyn Far> {
        let (topic, session) = (self.topic.clone(), &self.topic.session);
        let ear = Rc::new(Ear {
            subject: topic.subject,
            name: topic.name,
            interface: topic.interface,
            capacity: self.capacity,
            lossy: self.lossy,
            state: RefCell::default(),
        });
        session.listen(&ear);
        Box::new(Listening { ear, session: session.clone(), _may_come: session.reactor.expect() })
    }
}

/// A client's half, as its session knows it.
pub(super) struct Ear {
    subject: String,
    name: Rc<str>,
    interface: &'static Interface,
    capacity: usize,
    lossy: bool,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    asked: Option<Task<Result<Subscriber, String>>>,
    subscriber: Option<Subscriber>,
    /// Who speaks, and the number of what it says next.
    speaker: Option<(u64, u64)>,
    /// Beats since it was heard.
    misses: u32,
    /// All that has come was heard.
    is_up_to_date: bool,
    queue: VecDeque<Message>,
    pump: Option<Waker>,
    end: Option<Arrival>,
}

impl State {
    fn wake(&self) {
        self.pump.iter().for_each(Waker::wake);
    }
}

impl Ear {
    /// There is a connection now.
    pub(super) fn ask(&self, open: &Open) {
        let state = &mut *self.state.borrow_mut();
        if state.asked.is_none() && state.subscriber.is_none() {
            let (client, subject) = (open.client.clone(), self.subject.clone());
            state.asked =
                Some(open.begin(async move {
                    client.subscribe(subject).await.map_err(|error| error.to_string())
                }));
        }
    }

    /// Takes what has come, as far as there is room.
    pub(super) fn serve(&self, context: &mut Context<'_>) {
        let state = &mut *self.state.borrow_mut();
        match state.asked.as_ref().and_then(Task::poll) {
            Some(Ok(Ok(subscriber))) => (state.subscriber, state.asked) = (Some(subscriber), None),
            Some(Ok(Err(why)) | Err(why)) => {
                state.asked = None;
                self.end(state, &why);
            }
            None => {}
        }
        state.is_up_to_date = false;
        while state.end.is_none()
            && state.queue.len() < self.capacity
            && let Some(subscriber) = &mut state.subscriber
        {
            match subscriber.poll_next_unpin(context) {
                Poll::Ready(Some(message)) => self.hear(state, message),
                Poll::Ready(None) | Poll::Pending => {
                    state.is_up_to_date = true;
                    return;
                }
            }
        }
    }

    fn hear(&self, state: &mut State, message: Message) {
        let Some(saying) = Saying::read(&message.payload) else { return };
        let next = match state.speaker {
            Some((speaker, next)) if speaker == saying.speaker => next,
            // One at a time.
            Some(_) => return,
            None => saying.number,
        };
        state.misses = 0;
        if saying.fingerprint != self.interface.fingerprint.to_bytes() {
            return self.end(state, "what is said there is of another interface");
        }
        if saying.number != next && !self.lossy {
            return self.end(state, "events were missed: they came faster than they were taken");
        }
        state.speaker = Some((saying.speaker, saying.number + u64::from(saying.what != What::Alive)));
        match saying.what {
            What::Alive => {}
            What::Over => {
                state.end = Some(Arrival::Closed);
                state.wake();
            }
            What::Message(number) if (number as usize) < self.interface.messages.get().len() => {
                state.queue.push_back(message);
                state.wake();
            }
            What::Message(_) => self.end(state, "what is said there is no message of the interface"),
        }
    }

    fn end(&self, state: &mut State, why: &str) {
        state.end.get_or_insert(Arrival::Lost(format!("{}: {why}", self.name)));
        state.wake();
    }

    /// The connection is no more.
    pub(super) fn lose(&self, why: &str) {
        let state = &mut *self.state.borrow_mut();
        (state.asked, state.subscriber) = (None, None);
        self.end(state, why);
    }

    /// Time has passed. Whoever speaks is missed only where nothing that it has said waits to be heard.
    pub(super) fn beat(&self) {
        let state = &mut *self.state.borrow_mut();
        if state.speaker.is_some() && state.is_up_to_date {
            state.misses += 1;
            if state.misses > MISSES {
                self.end(state, "who spoke there doesn't any more");
            }
        }
    }
}

/// A client's half.
struct Listening {
    ear: Rc<Ear>,
    session: Rc<Session>,
    _may_come: Expectation,
}

impl Far for Listening {
    fn attach(&mut self, pump: Waker) {
        self.ear.state.borrow_mut().pump = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        true
    }

    fn send(&mut self, _: usize, _: Outgoing<'_>) {}

    fn receive(&mut self) -> Arrival {
        if self.ear.state.borrow().queue.is_empty() {
            self.session.hear(&self.ear);
        }
        let state = self.ear.state.borrow();
        match state.queue.front().and_then(|message| Saying::read(&message.payload)) {
            Some(Saying { what: What::Message(number), .. }) => Arrival::Message(number as usize),
            _ => state.end.clone().unwrap_or(Arrival::Nothing),
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let state = &mut *self.ear.state.borrow_mut();
        let said = state.queue.front().and_then(|message| Saying::read(&message.payload));
        let said = said.ok_or("there is no message")?;
        let about = |why: String| format!("{}: {why}", self.ear.name);
        values.decode(said.bytes).map_err(about)?;
        state.queue.pop_front();
        Ok(())
    }

    fn close(&mut self) {}
}

/// The exporter's side: it brings one client, to which all is said.
struct Platform {
    topic: Topic,
    has_spoken: bool,
}

impl Exported for Platform {
    fn attach(&mut self, _: Waker) {}

    fn accept(&mut self) -> Option<Box<dyn Far>> {
        if std::mem::replace(&mut self.has_spoken, true) {
            return None;
        }
        let speaker = RandomState::new().hash_one(&self.topic.subject);
        let voice = Rc::new(Voice { topic: self.topic.clone(), speaker, state: RefCell::default() });
        self.topic.session.speak(&voice);
        let may_come = self.topic.session.reactor.expect();
        Some(Box::new(Speaking { voice, failure: None, _may_come: may_come }))
    }
}

/// Who speaks, as its session knows it.
pub(super) struct Voice {
    topic: Topic,
    speaker: u64,
    state: RefCell<(u64, Option<Waker>)>,
}

impl Voice {
    /// There may be room for more.
    pub(super) fn wake(&self) {
        self.state.borrow().1.iter().for_each(Waker::wake);
    }

    /// That it is still there.
    pub(super) fn beat(&self) {
        let _ = self.say(What::Alive, |_| Ok(()));
    }

    fn say(&self, what: What, body: impl FnOnce(&mut Vec<u8>) -> Result<(), String>) -> Result<(), String> {
        let Topic { session, interface, .. } = &self.topic;
        let number = self.state.borrow().0;
        let fingerprint = interface.fingerprint.to_bytes();
        let saying = Saying { what, speaker: self.speaker, number, fingerprint, bytes: &[] };
        let mut payload = saying.head();
        body(&mut payload)?;
        let (length, most) = (payload.len(), session.most());
        if length > most && session.is_open() {
            return Err(format!("an event of {length} bytes is too long: this NATS takes at most {most}"));
        }
        self.state.borrow_mut().0 += u64::from(what != What::Alive);
        let subject = self.topic.subject.as_str().into();
        session.say(OutboundMessage { subject, reply: None, payload: payload.into(), headers: None });
        Ok(())
    }
}

struct Speaking {
    voice: Rc<Voice>,
    failure: Option<String>,
    _may_come: Expectation,
}

impl Far for Speaking {
    fn attach(&mut self, pump: Waker) {
        self.voice.state.borrow_mut().1 = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        self.voice.topic.session.waiting() < OUTBOX
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        let what = What::Message(message as u32);
        if let Err(why) = self.voice.say(what, |out| values.encode(out)) {
            self.failure = Some(format!("{}: {why}", self.voice.topic.name));
            self.voice.wake();
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

impl Drop for Speaking {
    fn drop(&mut self) {
        let _ = self.voice.say(What::Over, |_| Ok(()));
    }
}

#[cfg(test)]
mod tests {
    use drystone_component::{Fingerprint, Str, Table};

    use super::*;

    static NEWS: Interface = Interface {
        name: Str::new("News"),
        fingerprint: Fingerprint([0; 2]),
        messages: Table::new(&[]),
        next: Table::new(&[]),
        states: Table::new(&[Interface::MAY_END]),
        payload_words: 0,
    };

    #[test]
    fn who_speaks_is_not_missed_while_more_of_it_waits() {
        let (subject, name) = (String::new(), "event+nats:news".into());
        let state = RefCell::new(State { speaker: Some((1, 1)), ..State::default() });
        let ear = Ear { subject, name, interface: &NEWS, capacity: 2, lossy: false, state };
        let is_lost = || {
            (0..=MISSES).for_each(|_| ear.beat());
            ear.state.borrow().end.is_some()
        };
        assert!(!is_lost());
        ear.state.borrow_mut().is_up_to_date = true;
        assert!(is_lost());
    }
}
