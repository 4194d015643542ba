//! A peer: another program, with which this one speaks Drystone's own protocol over a line of bytes. Communications
//! with the peer are far halves for this program's pumps. Each side offers its exported names to the other.
//!
//! `component::wire` knows the protocol; a [`Line`] carries the bytes. Values go straight from a message's words into
//! the line's output, and from its input to a message.

mod composites;
mod half;
mod offer;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use drystone_component::wire::{Connection, Event, Handle, Limits, Role};
use drystone_runtime::far::Waker;

pub use self::composites::{ClientId, Composites, Service, Shipper};
use self::half::Half;
pub use self::half::Wanted;
pub use self::offer::{Brought, Names, Offer, check};
use crate::Expected;

/// Carries the bytes between two programs.
pub trait Line {
    /// The program at the other end.
    fn peer(&self) -> &Peer;
    /// There is something to send, when the program has nothing else to do.
    fn send_soon(&self);
    /// Sends what can be sent without waiting, so that the other end works while this one does.
    fn send_now(&self);
    /// From this number of bytes on, output is sent at once, although the program goes on.
    fn much(&self) -> usize {
        4 * 1024
    }
    /// The export that the other end may ask for by a name, and the slot for its client.
    fn find(&self, name: &[u8]) -> Option<(Rc<Offer>, usize)>;
    /// Runs composite calls that the other end ships. `None` if it may not ship any: it was dialed, or is a confined
    /// domain.
    fn composites(&self) -> Option<&Rc<dyn Composites>> {
        None
    }
    /// All communications that the other end has begun are over here.
    fn quiet(&self) {}
    /// What may arrive at this program from outside.
    fn expected(&self) -> &Expected;
}

/// The connection with a peer, and its communications.
pub struct Peer {
    connection: RefCell<Connection>,
    /// The pumps of communications, by their handles.
    pumps: RefCell<Vec<Option<Waker>>>,
    /// The sessions of the other end that ship composite calls.
    shippers: RefCell<BTreeMap<Handle, Rc<dyn Shipper>>>,
    /// The other end's number as a client of composite calls, as long as it has sessions.
    client: Cell<Option<ClientId>>,
    /// Communications that the other end has begun and that aren't over here.
    served: Cell<usize>,
    /// Bytes were sent, so the other end may have received some.
    has_spoken: Cell<bool>,
}

impl Peer {
    /// A connection over which nothing has been sent.
    pub fn new(role: Role, limits: Limits) -> Peer {
        let connection = RefCell::new(Connection::new(role, limits));
        let (pumps, shippers, client, served, has_spoken) = Default::default();
        Peer { connection, pumps, shippers, client, served, has_spoken }
    }

    /// Whether all communications that the other end has begun are over here, and its last messages taken.
    pub fn is_quiet(&self) -> bool {
        self.served.get() == 0
    }

    /// Why the connection has failed, if it has.
    pub fn failure(&self) -> Option<String> {
        self.connection.borrow().failure().map(str::to_string)
    }

    /// Whether the other end has announced its limits.
    pub fn has_greeted(&self) -> bool {
        self.connection.borrow().is_greeted()
    }

    /// Whether there are bytes to be sent.
    pub fn has_output(&self) -> bool {
        self.connection.borrow().has_output()
    }

    /// How many bytes are waiting to be sent.
    pub fn waits(&self) -> usize {
        self.connection.borrow_mut().output().len()
    }

    /// Passes output to `write`, which returns how many bytes it took, until it takes none or none are left.
    pub fn output<E>(&self, mut write: impl FnMut(&[u8]) -> Result<usize, E>) -> Result<(), E> {
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

    /// Nothing of what was sent so far has been received.
    pub fn was_unheard(&self) {
        self.has_spoken.set(false);
    }

    /// The other end is lost.
    pub fn lost(&self, line: &Rc<dyn Line>, why: &str) {
        self.connection.borrow_mut().lost(why);
        self.tell(line);
    }

    /// The other end has sent these bytes.
    pub fn feed(&self, line: &Rc<dyn Line>, bytes: &[u8]) {
        self.connection.borrow_mut().feed(bytes);
        self.tell(line);
        if self.has_output() {
            line.send_soon();
        }
    }

    /// Bytes of memory that the connection takes.
    pub fn held(&self) -> usize {
        self.connection.borrow().held()
    }

    /// Ends the connection because it takes too much memory. Messages that haven't been taken are lost.
    pub fn evict(&self, line: &Rc<dyn Line>, why: &str) {
        self.connection.borrow_mut().evict(why);
        self.tell(line);
    }

    /// Passes all events of the connection on.
    pub fn tell(&self, line: &Rc<dyn Line>) {
        loop {
            let event = self.connection.borrow_mut().poll();
            match event {
                None => return,
                Some(Event::Ready(handle)) => self.wake(line, handle),
                Some(Event::Offered { handle, name }) => self.offer(line, handle, &name),
                Some(Event::Asked { request, name }) => {
                    let service = || {
                        Some(line.composites()?.service()).filter(|service| service.name.as_bytes() == name)
                    };
                    let found = line.find(&name).map(|(offer, _)| offer.interface());
                    let found = found.or_else(|| Some(service()?.interface));
                    let answer = found.ok_or("nothing is exported by this name");
                    self.connection.borrow_mut().answer(request, answer);
                }
                // This side sends no such questions.
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

    /// Tells a session of composite calls, if this is one, that a message has arrived.
    fn hear(&self, line: &Rc<dyn Line>, handle: Handle) {
        let shipper = self.shippers.borrow().get(&handle).cloned();
        if shipper.is_some_and(|shipper| !shipper.hear(&self.connection)) {
            self.dismiss(line, handle);
        }
    }

    /// Ends a session of composite calls.
    fn dismiss(&self, line: &Rc<dyn Line>, handle: Handle) {
        let Some(shipper) = self.shippers.borrow_mut().remove(&handle) else { return };
        drop(shipper);
        if let (true, Some(composites)) = (self.shippers.borrow().is_empty(), line.composites()) {
            self.client.take().inspect(|client| composites.dismiss(*client));
        }
        self.one_served_less(line);
    }

    /// Whether the other end accepts one more message now. If not, the communication's pump or session is woken when it
    /// does.
    pub fn has_room(&self, handle: Handle) -> bool {
        self.connection.borrow_mut().has_room(handle)
    }

    /// Sends a message that the other end has asked for.
    pub fn reply(
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

    /// The other end asks for a communication with the interface exported by a name.
    fn offer(&self, line: &Rc<dyn Line>, handle: Handle, name: &[u8]) {
        let mut connection = self.connection.borrow_mut();
        if let Some(composites) = line.composites()
            && composites.service().name.as_bytes() == name
        {
            if connection.accept(handle, composites.service().interface, 0) {
                drop(connection);
                self.served.set(self.served.get() + 1);
                let client = self.client.get().unwrap_or_else(|| composites.admit());
                self.client.set(Some(client));
                self.shippers.borrow_mut().insert(handle, composites.take(client, line, handle));
                self.hear(line, handle);
            }
            return;
        }
        let Some((offer, slot)) = line.find(name) else {
            let why = format!("nothing is exported as {}", String::from_utf8_lossy(name));
            return connection.refuse(handle, &why);
        };
        if connection.accept(handle, offer.interface(), offer.capacity()) {
            drop(connection);
            self.served.set(self.served.get() + 1);
            offer.come(Box::new(Half::new(line, handle, offer.name(), Some(slot))));
        }
    }
}
