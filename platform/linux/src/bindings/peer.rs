//! Another program with which this one speaks Drystone's own protocol, over whatever line of bytes: its communications are
//! far halves for the pumps of this program's, its names and this program's are offered to each other.
//!
//! `component::wire` knows the protocol; what carries the bytes is a [`Line`]'s business. Values go straight from a message's
//! words into the line's output, and from its input to a message.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;

use drystone_component::wire::{self, Connection, Event, Handle, Limits, Role};
use drystone_component::{Interface, Type};
use drystone_extension::composite::ClientId;
use drystone_runtime::far::{Arrival, Exported, Far, Filling, Outgoing, Visitor, Waker, as_far};

use super::composite::{self, Composites, Session};
use crate::reactor::{Expectation, Reactor};

/// What carries the bytes between two programs.
pub(super) trait Line {
    /// The program at the other end.
    fn peer(&self) -> &Peer;
    /// There is something to be sent when the program has nothing else to do.
    fn send_soon(&self);
    /// Sends what can be sent without waiting: the other end shall work while this one does.
    fn send_now(&self);
    /// What the other end may ask for here by a name, and for which slot of its client that is.
    fn find(&self, name: &[u8]) -> Option<(Rc<Offer>, usize)>;
    /// What runs composite calls, where the other end may ship some: not who was dialed, nor a domain that is confined.
    fn composites(&self) -> Option<&Rc<Composites>> {
        None
    }
    /// All that the other end has begun is over here.
    fn quiet(&self) {}
    /// The program's.
    fn reactor(&self) -> &Rc<Reactor>;
}

/// So many bytes are sent at once, though the program goes on.
const MUCH: usize = 4 * 1024;

/// See the head of this file.
pub(super) struct Peer {
    connection: RefCell<Connection>,
    /// The pumps of communications, by their handles.
    pumps: RefCell<Vec<Option<Waker>>>,
    /// Who ships composite calls.
    sessions: RefCell<BTreeMap<Handle, Rc<Session>>>,
    /// As whom the other end does that, as long as it does.
    client: Cell<Option<ClientId>>,
    /// Communications that the other end has begun and that aren't over here.
    served: Cell<usize>,
    /// The other end may have heard something.
    has_spoken: Cell<bool>,
}

impl Peer {
    pub(super) fn new(role: Role, limits: Limits) -> Peer {
        let connection = RefCell::new(Connection::new(role, limits));
        let (pumps, sessions, client, served, has_spoken) = Default::default();
        Peer { connection, pumps, sessions, client, served, has_spoken }
    }

    /// Whether all that the other end has begun is over here: what it has said last has been taken.
    pub(super) fn is_quiet(&self) -> bool {
        self.served.get() == 0
    }

    /// Why it is over, if it is.
    pub(super) fn failure(&self) -> Option<String> {
        self.connection.borrow().failure().map(str::to_string)
    }

    /// Whether the other end has said what it takes.
    pub(super) fn has_greeted(&self) -> bool {
        self.connection.borrow().is_greeted()
    }

    /// Whether there are bytes to be sent.
    pub(super) fn has_output(&self) -> bool {
        self.connection.borrow().has_output()
    }

    /// Hands bytes to be sent to `write`, which says how many it took, until it takes none or there are none.
    pub(super) fn output<E>(&self, mut write: impl FnMut(&[u8]) -> Result<usize, E>) -> Result<(), E> {
        let mut connection = self.connection.borrow_mut();
        loop {
            let output = connection.output();
            if output.is_empty() {
                return Ok(());
            }
            let count = write(output)?;
            connection.sent(count);
            self.has_spoken.set(true);
        }
    }

    /// Nobody has heard what was sent so far.
    pub(super) fn was_unheard(&self) {
        self.has_spoken.set(false);
    }

    /// The other end is not there any more.
    pub(super) fn lost(&self, line: &Rc<dyn Line>, why: &str) {
        self.connection.borrow_mut().lost(why);
        self.tell(line);
    }

    /// The other end has sent these bytes.
    pub(super) fn feed(&self, line: &Rc<dyn Line>, bytes: &[u8]) {
        self.connection.borrow_mut().feed(bytes);
        self.tell(line);
        if self.has_output() {
            line.send_soon();
        }
    }

    /// Tells everyone what has happened.
    pub(super) fn tell(&self, line: &Rc<dyn Line>) {
        loop {
            let event = self.connection.borrow_mut().poll();
            match event {
                None => return,
                Some(Event::Ready(handle)) => self.wake(line, handle),
                Some(Event::Offered { handle, name }) => self.offer(line, handle, &name),
                Some(Event::Asked { request, name }) => {
                    let found = match line.find(&name) {
                        None if name == composite::SERVICE && line.composites().is_some() => {
                            Some(composite::interface())
                        }
                        found => found.map(|(offer, _)| offer.interface),
                    };
                    let answer = found.ok_or("nothing is exported by this name");
                    self.connection.borrow_mut().answer(request, answer);
                }
                // Nobody here asks.
                Some(Event::Answered { .. } | Event::Pong(_)) => {}
            }
        }
    }

    fn wake(&self, line: &Rc<dyn Line>, handle: Handle) {
        let pump = self.pumps.borrow().get(handle.index()).cloned().flatten();
        match pump {
            Some(pump) => pump.wake(),
            None => self.hear(line, handle),
        }
    }

    /// Who ships composite calls has said something, if it is one of these.
    fn hear(&self, line: &Rc<dyn Line>, handle: Handle) {
        let session = self.sessions.borrow().get(&handle).cloned();
        if session.is_some_and(|session| !session.hear(&self.connection)) {
            self.dismiss(line, handle);
        }
    }

    /// Who ships composite calls has gone.
    fn dismiss(&self, line: &Rc<dyn Line>, handle: Handle) {
        let Some(session) = self.sessions.borrow_mut().remove(&handle) else { return };
        drop(session);
        if let (true, Some(composites)) = (self.sessions.borrow().is_empty(), line.composites()) {
            self.client.take().inspect(|client| composites.dismiss(*client));
        }
        self.one_served_less(line);
    }

    /// Whether the other end takes one more message now; if not, who waits for that is told when it does.
    pub(super) fn has_room(&self, handle: Handle) -> bool {
        self.connection.borrow_mut().has_room(handle)
    }

    /// Sends a message that the other end has asked for.
    pub(super) fn reply(
        &self,
        line: &Rc<dyn Line>,
        handle: Handle,
        message: usize,
        values: impl FnOnce(&mut Vec<u8>) -> Result<(), String>,
    ) {
        let sent = self.connection.borrow_mut().send(handle, message, values);
        if let Err(why) = sent {
            self.connection.borrow_mut().abandon(handle, &why);
            self.dismiss(line, handle);
        }
    }

    fn one_served_less(&self, line: &Rc<dyn Line>) {
        self.served.set(self.served.get() - 1);
        if self.is_quiet() {
            line.quiet();
        }
    }

    /// The other end wants to talk to what is exported by a name.
    fn offer(&self, line: &Rc<dyn Line>, handle: Handle, name: &[u8]) {
        let mut connection = self.connection.borrow_mut();
        if name == composite::SERVICE
            && let Some(composites) = line.composites()
        {
            if connection.accept(handle, composite::interface(), 0) {
                drop(connection);
                self.served.set(self.served.get() + 1);
                let client = self.client.get().unwrap_or_else(|| composites.admit());
                self.client.set(Some(client));
                self.sessions.borrow_mut().insert(handle, Session::new(line, composites, client, handle));
                self.hear(line, handle);
            }
            return;
        }
        let Some((offer, slot)) = line.find(name) else {
            let why = format!("nothing is exported as {}", String::from_utf8_lossy(name));
            return connection.refuse(handle, &why);
        };
        if connection.accept(handle, offer.interface, offer.capacity) {
            drop(connection);
            self.served.set(self.served.get() + 1);
            offer.come(Box::new(Half::new(line, handle, &offer.name, Some(slot))));
        }
    }
}

/// What a client wants, and as what its sentences know it.
#[derive(Clone)]
pub(super) struct Wanted {
    pub(super) interface: &'static Interface,
    /// The whole, for messages to people.
    pub(super) name: Rc<str>,
    /// As the other end knows it.
    pub(super) there: Rc<str>,
    /// Messages that may be on their way; 0: as many as is usual.
    pub(super) capacity: u32,
}

impl Wanted {
    /// Begins to talk.
    pub(super) fn begin(&self, line: &Rc<dyn Line>) -> Box<dyn Far> {
        let there = self.there.as_bytes();
        let handle = line.peer().connection.borrow_mut().open(there, self.interface, self.capacity);
        line.send_soon();
        Box::new(Half::new(line, handle, &self.name, None))
    }
}

/// A communication with the other end.
struct Half {
    line: Rc<dyn Line>,
    handle: Handle,
    name: Rc<str>,
    /// Where it begins, if the other end has begun it.
    slot: Option<usize>,
    /// The message that has come and was not taken, as it was told last.
    next: Option<usize>,
    /// Why it was given up here.
    broken: Option<String>,
    /// The other end has been told.
    is_over: bool,
    _may_come: Expectation,
}

impl Half {
    fn new(line: &Rc<dyn Line>, handle: Handle, name: &Rc<str>, slot: Option<usize>) -> Half {
        let may_come = line.reactor().expect();
        let (line, name) = (line.clone(), name.clone());
        Half { line, handle, name, slot, next: None, broken: None, is_over: false, _may_come: may_come }
    }

    fn connection(&self) -> std::cell::RefMut<'_, Connection> {
        self.line.peer().connection.borrow_mut()
    }

    fn end(&mut self, end: impl FnOnce(&mut Connection, Handle)) {
        if !std::mem::replace(&mut self.is_over, true) {
            end(&mut self.connection(), self.handle);
            if let Some(pump) = self.line.peer().pumps.borrow_mut().get_mut(self.handle.index()) {
                *pump = None;
            }
            self.line.send_soon();
        }
    }
}

impl Far for Half {
    fn attach(&mut self, pump: Waker) {
        let pumps = &mut *self.line.peer().pumps.borrow_mut();
        let index = self.handle.index();
        if pumps.len() <= index {
            pumps.resize(index + 1, None);
        }
        pumps[index] = Some(pump);
    }

    fn has_room(&mut self) -> bool {
        self.is_over || self.connection().has_room(self.handle)
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        if self.is_over {
            return;
        }
        let mut connection = self.connection();
        // Else that is known already.
        let is_news = !connection.has_output();
        let sent = connection.send(self.handle, message, |out| values.encode(out));
        let is_much = connection.unsent() >= MUCH;
        drop(connection);
        match sent {
            Ok(()) => {
                if is_news {
                    self.line.send_soon();
                }
                if is_much {
                    self.line.send_now();
                }
            }
            Err(why) => {
                // It shall look for what comes: that it is over.
                self.line.peer().wake(&self.line, self.handle);
                self.end(|connection, handle| connection.abandon(handle, &why));
                self.broken = Some(why);
            }
        }
    }

    fn receive(&mut self) -> Arrival {
        if self.is_over {
            return Arrival::Lost(format!(
                "{}: {}",
                self.name,
                self.broken.as_deref().unwrap_or("it is over")
            ));
        }
        if let Some(message) = self.next {
            return Arrival::Message(message);
        }
        let arrival = self.connection().arrival(self.handle);
        match arrival {
            wire::Arrival::Nothing => Arrival::Nothing,
            wire::Arrival::Message(message) => {
                self.next = Some(message);
                Arrival::Message(message)
            }
            wire::Arrival::Closed => Arrival::Closed,
            wire::Arrival::Lost(why) => Arrival::Lost(format!("{}: {why}", self.name)),
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        let mut connection = self.connection();
        let (taken, next) = connection.take(self.handle, |bytes| values.decode(bytes));
        let owes = connection.owes();
        drop(connection);
        self.next = next;
        // What is taken is granted anew: at once if more has come, for then no answer follows soon with which it could go.
        if owes {
            self.line.send_soon();
            if next.is_some() {
                self.line.send_now();
            }
        }
        taken.map_err(|why| {
            self.end(|connection, handle| connection.abandon(handle, &why));
            format!("{}: {why}", self.name)
        })
    }

    fn slot(&self) -> usize {
        self.slot.unwrap_or(1)
    }

    fn close(&mut self) {
        self.end(Connection::close);
    }

    fn was_refused(&self) -> bool {
        !self.is_over && (!self.line.peer().has_spoken.get() || self.connection().was_refused(self.handle))
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        self.end(|connection, handle| connection.abandon(handle, "the other side was ended by force"));
        if self.slot.is_some() {
            self.line.peer().one_served_less(&self.line);
        }
    }
}

/// What is exported to other ends, by the names that they know.
#[derive(Default)]
pub(super) struct Names(RefCell<HashMap<Rc<str>, Rc<Offer>>>);

impl Names {
    pub(super) fn find(&self, name: &[u8]) -> Option<Rc<Offer>> {
        self.0.borrow().get(str::from_utf8(name).ok()?).cloned()
    }

    /// Exports an interface.
    ///
    /// # Errors
    /// The name is taken.
    pub(super) fn add(&self, wanted: &Wanted) -> Result<Rc<Offer>, String> {
        let names = &mut *self.0.borrow_mut();
        if names.contains_key(&wanted.there) {
            return Err("this name is taken".to_string());
        }
        let Wanted { interface, capacity, .. } = *wanted;
        let (come, visitors, listener, is_over) = Default::default();
        let name = wanted.name.clone();
        let offer = Rc::new(Offer { interface, name, capacity, come, visitors, listener, is_over });
        names.insert(wanted.there.clone(), offer.clone());
        Ok(offer)
    }

    pub(super) fn remove(&self, name: &str) {
        self.0.borrow_mut().remove(name);
    }
}

/// An exported interface, and the clients that have come for it.
pub(super) struct Offer {
    interface: &'static Interface,
    name: Rc<str>,
    capacity: u32,
    come: RefCell<VecDeque<Box<dyn Far>>>,
    visitors: RefCell<VecDeque<Box<dyn Visitor>>>,
    listener: RefCell<Option<Waker>>,
    is_over: Cell<bool>,
}

impl Offer {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it isn't exported any more.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    pub(super) fn interface(&self) -> &'static Interface {
        self.interface
    }

    pub(super) fn come(&self, client: Box<dyn Far>) {
        self.come.borrow_mut().push_back(client);
        self.tell_listener();
    }

    /// The same for who says and takes messages here.
    pub(super) fn visit(&self, visitor: Box<dyn Visitor>) {
        self.visitors.borrow_mut().push_back(visitor);
        self.tell_listener();
    }

    fn tell_listener(&self) {
        self.listener.borrow().as_ref().inspect(|listener| listener.wake());
    }
}

/// An exported interface as the program has it; `_door` is what it needs to be found.
pub(super) struct Brought<D> {
    pub(super) offer: Rc<Offer>,
    pub(super) there: Rc<str>,
    pub(super) names: Rc<Names>,
    pub(super) _door: D,
    pub(super) _may_come: Expectation,
}

impl<D: 'static> Exported for Brought<D> {
    fn attach(&mut self, listener: Waker) {
        *self.offer.listener.borrow_mut() = Some(listener);
    }

    fn accept(&mut self) -> Option<Box<dyn Far>> {
        let far = self.offer.come.borrow_mut().pop_front();
        far.or_else(|| Some(as_far(self.visitor()?, self.offer.interface)))
    }

    fn visitor(&mut self) -> Option<Box<dyn Visitor>> {
        self.offer.visitors.borrow_mut().pop_front()
    }
}

impl<D> Drop for Brought<D> {
    fn drop(&mut self) {
        self.names.remove(&self.there);
        self.offer.is_over.set(true);
        // Those that nobody has let in are lost.
        let come = (self.offer.come.take(), self.offer.visitors.take());
        drop(come);
    }
}

/// Which of an interface's messages could not be sent to another program.
///
/// # Errors
/// There is one.
pub(super) fn check(interface: &Interface) -> Result<(), String> {
    let carries = |message: &&drystone_component::Message| {
        message.parameters.get().iter().any(|parameter| parameter.ty == Type::Component)
    };
    match interface.messages.get().iter().find(carries) {
        None => Ok(()),
        Some(message) => {
            Err(format!("{} carries a component, which can't leave its program this way", message.name.get()))
        }
    }
}
