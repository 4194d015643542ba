//! A client's subscription to a topic's events.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Poll};

use async_nats::{Message, Subscriber};
use drystone_component::Interface;
use drystone_reactor::Expectation;
use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Reach, Waker};
use futures_util::StreamExt;

use super::engine::Task;
use super::event_message::{EventMessage, Kind};
use super::event_topic::Topic;
use super::open::Open;
use super::partner::MISSES;
use super::session::Session;
use super::users::User;

/// A topic that a client is bound to.
pub(super) struct Subscribing {
    pub(super) topic: Topic,
    /// Most events that wait for the client.
    pub(super) capacity: usize,
    /// It may miss some.
    pub(super) lossy: bool,
}

impl Reach for Subscribing {
    fn begin(&mut self) -> Box<dyn Far> {
        let (topic, session) = (self.topic.clone(), &self.topic.session);
        let subscription = Rc::new(Subscription {
            subject: topic.subject,
            name: topic.name,
            interface: topic.interface,
            capacity: self.capacity,
            lossy: self.lossy,
            state: RefCell::default(),
        });
        session.add_waiting_user(subscription.clone());
        let (session, may_come) = (session.clone(), session.reactor.expect());
        Box::new(Subscribed { subscription, session, _may_come: may_come })
    }
}

/// The subscription, as its session knows it.
struct Subscription {
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
    /// The publisher, and the number of its next event.
    publisher: Option<(u64, u64)>,
    /// Beats since something has come from it.
    misses: u32,
    /// All that has come was taken.
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

impl Subscription {
    fn hear(&self, state: &mut State, message: Message) {
        let Some(event) = EventMessage::read(&message.payload) else { return };
        let next = match state.publisher {
            Some((publisher, next)) if publisher == event.publisher => next,
            // There is another publisher: the first one is heard.
            Some(_) => return,
            None => event.number,
        };
        state.misses = 0;
        if event.fingerprint != self.interface.fingerprint.to_bytes() {
            return self.end(state, "what is published there is of another interface");
        }
        if event.number != next && !self.lossy {
            return self.end(state, "events were missed: they came faster than they were taken");
        }
        state.publisher = Some((event.publisher, event.number + u64::from(event.kind != Kind::Alive)));
        match event.kind {
            Kind::Alive => {}
            Kind::Over => {
                state.end = Some(Arrival::Closed);
                state.wake();
            }
            Kind::Message(number) if (number as usize) < self.interface.messages.get().len() => {
                state.queue.push_back(message);
                state.wake();
            }
            Kind::Message(_) => self.end(state, "what is published there is no message of the interface"),
        }
    }

    fn end(&self, state: &mut State, why: &str) {
        state.end.get_or_insert(Arrival::Lost(format!("{}: {why}", self.name)));
        state.wake();
    }
}

impl User for Subscription {
    fn opened(&self, open: &Open) {
        let state = &mut *self.state.borrow_mut();
        if state.end.is_none() && state.asked.is_none() && state.subscriber.is_none() {
            let (client, subject) = (open.client.clone(), self.subject.clone());
            let asked = async move { client.subscribe(subject).await.map_err(|error| error.to_string()) };
            state.asked = Some(open.begin(asked));
        }
    }

    fn lost(&self, why: &str) {
        let state = &mut *self.state.borrow_mut();
        (state.asked, state.subscriber) = (None, None);
        self.end(state, why);
    }

    /// Takes what has come, as far as there is room.
    fn serve(&self, context: &mut Context<'_>) {
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

    fn has_beats(&self) -> bool {
        self.state.borrow().end.is_none()
    }

    /// The publisher is missed only where nothing that it has sent waits to be taken.
    fn beat(&self) {
        let state = &mut *self.state.borrow_mut();
        if state.publisher.is_some() && state.is_up_to_date {
            state.misses += 1;
            if state.misses > MISSES {
                self.end(state, "the publisher is not there any more");
            }
        }
    }
}

/// The subscription, as the runtime knows it.
struct Subscribed {
    subscription: Rc<Subscription>,
    session: Rc<Session>,
    _may_come: Expectation,
}

impl Far for Subscribed {
    fn attach(&mut self, pump: Waker) {
        self.subscription.state.borrow_mut().pump = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        true
    }

    fn send(&mut self, _: usize, _: Outgoing<'_>) {}

    fn receive(&mut self) -> Arrival {
        if self.subscription.state.borrow().queue.is_empty() {
            self.session.serve_now(&*self.subscription);
        }
        let state = self.subscription.state.borrow();
        match state.queue.front().and_then(|message| EventMessage::read(&message.payload)) {
            Some(EventMessage { kind: Kind::Message(number), .. }) => Arrival::Message(number as usize),
            _ => state.end.clone().unwrap_or(Arrival::Nothing),
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let state = &mut *self.subscription.state.borrow_mut();
        let said = state.queue.front().and_then(|message| EventMessage::read(&message.payload));
        let said = said.ok_or("there is no message")?;
        let about = |why: String| format!("{}: {why}", self.subscription.name);
        values.decode(said.values).map_err(about)?;
        state.queue.pop_front();
        Ok(())
    }

    fn close(&mut self) {}
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
        queued: 0,
    };

    #[test]
    fn a_publisher_is_not_missed_while_events_wait() {
        let (subject, name) = (String::new(), "event+nats:news".into());
        let state = RefCell::new(State { publisher: Some((1, 1)), ..State::default() });
        let subscription = Subscription { subject, name, interface: &NEWS, capacity: 2, lossy: false, state };
        let is_lost = || {
            (0..=MISSES).for_each(|_| subscription.beat());
            subscription.state.borrow().end.is_some()
        };
        assert!(!is_lost());
        subscription.state.borrow_mut().is_up_to_date = true;
        assert!(is_lost());
    }
}
