//! Events, `event:NAME`: a message that one component sends goes to all clients connected to the name (event casting in
//! *THINK*, section 3.1). The exporter of the name serves a single communication, whose messages are cast to all
//! clients. Its interface has a protocol in which only the server sends, and may send the same messages again at any
//! time, such as `{ OUT Price(x: INTEGER) }`. So a client may connect at any time.
//!
//! A client receives what is sent after its CONNECT. A slow client makes the others wait, unless the export says `BY
//! Event(lossy: TRUE)`: then it misses the messages that its queue has no room for (`capacity`, 16 messages unless BY
//! says otherwise). A client that hasn't begun to listen delays nobody: if its queue is full, it receives only what is
//! sent after it has begun.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::rc::{Rc, Weak};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::RefCell;

use drystone_component::{Interface, Name, Side};
use drystone_runtime::binding::{BindingFactory, Edge, Endpoint, NamingContext};
use drystone_runtime::far::{Arrival, Exported, Far, Filling, Letter, Outgoing, Reach, Waker};

/// The events of a program.
#[derive(Default)]
pub struct Events {
    topics: BTreeMap<String, Weak<RefCell<Topic>>>,
}

/// A name, with its exporter and clients.
struct Topic {
    interface: &'static Interface,
    /// Whether a component has exported it.
    is_exported: bool,
    /// Wakes the exporter's listener, until it has accepted its one client.
    speaker: Option<Waker>,
    clients: Vec<Rc<RefCell<Client>>>,
}

struct Client {
    queue: VecDeque<(usize, Letter)>,
    capacity: usize,
    pump: Option<Waker>,
    /// It has begun to listen.
    has_begun: bool,
    has_left: bool,
    /// The exporter has ended.
    is_over: bool,
}

impl Events {
    fn topic(&mut self, name: &str, interface: &'static Interface) -> Result<Rc<RefCell<Topic>>, String> {
        castable(interface)?;
        self.topics.retain(|_, topic| topic.strong_count() > 0);
        if let Some(topic) = self.topics.get(name).and_then(Weak::upgrade) {
            if topic.borrow().interface.fingerprint != interface.fingerprint {
                let other = topic.borrow().interface.name.get();
                return Err(format!("it is known for an interface {other} that differs"));
            }
            return Ok(topic);
        }
        let topic = Topic { interface, is_exported: false, speaker: None, clients: Vec::new() };
        let topic = Rc::new(RefCell::new(topic));
        self.topics.insert(name.to_string(), Rc::downgrade(&topic));
        Ok(topic)
    }
}

/// Refuses interfaces in which a late client would not know the protocol's state.
///
/// # Errors
/// The interface is refused.
pub fn castable(interface: &'static Interface) -> Result<(), String> {
    for (number, message) in interface.messages.get().iter().enumerate() {
        let name = message.name.get();
        if message.sender == Side::Client {
            return Err(format!("{} has IN {name}: events go one way", interface.name.get()));
        }
        if interface.next(0, number) != Some(0) {
            return Err(format!("OUT {name} may not be sent at any time: a client may come in at any time"));
        }
        if message.has_component() {
            return Err(format!("OUT {name} carries a component: only one client could have it"));
        }
    }
    Ok(())
}

/// Messages that may wait for a client, unless BY says otherwise.
const CAPACITY: u32 = 16;

impl BindingFactory for Events {
    fn bind(&mut self, Endpoint { interface, name, hints }: Endpoint<'_>) -> Result<Box<dyn Reach>, String> {
        let capacity = hints.capacity()?.unwrap_or(CAPACITY) as usize;
        let topic = self.topic(name.rest(), interface)?;
        let first = topic.borrow_mut().subscribe(capacity);
        Ok(Box::new(Subscription { topic, capacity, first: Some(first) }))
    }
}

impl NamingContext for Events {
    fn export(
        &mut self,
        Endpoint { interface, name, hints }: Endpoint<'_>,
    ) -> Result<Box<dyn Exported>, String> {
        let topic = self.topic(name.rest(), interface)?;
        if core::mem::replace(&mut topic.borrow_mut().is_exported, true) {
            return Err("it is exported already".into());
        }
        let lossy = hints.factories.iter().find_map(|factory| factory.boolean("lossy").transpose());
        Ok(Box::new(Stage { topic, lossy: lossy.transpose()?.unwrap_or(false), has_spoken: false }))
    }

    fn resolve<'n>(&mut self, _: Name<'n>) -> Result<Edge<'_, 'n>, String> {
        Ok(Edge::Interface(self))
    }
}

impl Topic {
    fn subscribe(&mut self, capacity: usize) -> Rc<RefCell<Client>> {
        let client = Rc::new(RefCell::new(Client {
            queue: VecDeque::new(),
            capacity,
            pump: None,
            has_begun: false,
            has_left: false,
            is_over: false,
        }));
        self.clients.push(client.clone());
        client
    }

    fn forget_those_who_left(&mut self) {
        self.clients.retain(|client| !client.borrow().has_left);
    }
}

struct Subscription {
    topic: Rc<RefCell<Topic>>,
    capacity: usize,
    /// Collects messages for the first communication before it begins.
    first: Option<Rc<RefCell<Client>>>,
}

impl Reach for Subscription {
    fn begin(&mut self) -> Box<dyn Far> {
        let first = self.first.take().filter(|client| !client.borrow().has_left);
        let client = first.unwrap_or_else(|| self.topic.borrow_mut().subscribe(self.capacity));
        client.borrow_mut().has_begun = true;
        Box::new(Listening { client, topic: self.topic.clone() })
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(client) = &self.first {
            client.borrow_mut().has_left = true;
            self.topic.borrow_mut().forget_those_who_left();
        }
    }
}

/// A client's half.
struct Listening {
    client: Rc<RefCell<Client>>,
    topic: Rc<RefCell<Topic>>,
}

impl Far for Listening {
    fn attach(&mut self, pump: Waker) {
        self.client.borrow_mut().pump = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        true
    }

    fn send(&mut self, _: usize, _: Outgoing<'_>) {}

    fn receive(&mut self) -> Arrival {
        let client = self.client.borrow();
        match client.queue.front() {
            Some((message, _)) => Arrival::Message(*message),
            None if client.is_over => Arrival::Closed,
            None => Arrival::Nothing,
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let letter = self.client.borrow_mut().queue.pop_front();
        if let Some(speaker) = &self.topic.borrow().speaker {
            speaker.wake();
        }
        values.put_letter(letter.ok_or("there is no message")?.1)
    }

    fn close(&mut self) {}
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.client.borrow_mut().has_left = true;
        let mut topic = self.topic.borrow_mut();
        topic.forget_those_who_left();
        if let Some(speaker) = &topic.speaker {
            speaker.wake();
        }
    }
}

/// The exporter's side. It gives the exporter one client, which stands for all.
struct Stage {
    topic: Rc<RefCell<Topic>>,
    lossy: bool,
    has_spoken: bool,
}

impl Exported for Stage {
    fn attach(&mut self, _: Waker) {}

    fn accept(&mut self) -> Option<Box<dyn Far>> {
        if core::mem::replace(&mut self.has_spoken, true) {
            return None;
        }
        Some(Box::new(Speaking { topic: self.topic.clone(), lossy: self.lossy }))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.topic.borrow_mut().is_exported = false;
    }
}

struct Speaking {
    topic: Rc<RefCell<Topic>>,
    lossy: bool,
}

impl Far for Speaking {
    fn attach(&mut self, pump: Waker) {
        self.topic.borrow_mut().speaker = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        let topic = self.topic.borrow();
        self.lossy || topic.clients.iter().all(|client| client.borrow().has_room_or_misses())
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        let letter = values.into_letter();
        let mut topic = self.topic.borrow_mut();
        for client in &topic.clients {
            let client = &mut *client.borrow_mut();
            if !client.has_room() {
                client.has_left |= !client.has_begun;
                continue;
            }
            client.queue.push_back((message, letter.copy()));
            if let Some(pump) = &client.pump {
                pump.wake();
            }
        }
        topic.forget_those_who_left();
    }

    fn receive(&mut self) -> Arrival {
        Arrival::Nothing
    }

    fn take(&mut self, _: &mut Filling<'_>) -> Result<(), String> {
        Err("nothing comes from those who listen".into())
    }

    fn close(&mut self) {}
}

impl Drop for Speaking {
    fn drop(&mut self) {
        let mut topic = self.topic.borrow_mut();
        topic.speaker = None;
        for client in topic.clients.drain(..) {
            let client = &mut *client.borrow_mut();
            client.is_over = true;
            if let Some(pump) = &client.pump {
                pump.wake();
            }
        }
    }
}

impl Client {
    fn has_room(&self) -> bool {
        self.queue.len() < self.capacity
    }

    fn has_room_or_misses(&self) -> bool {
        self.has_room() || !self.has_begun
    }
}
