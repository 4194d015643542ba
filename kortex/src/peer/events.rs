//! What happens on a connection is passed on: to pumps, to exported interfaces, to sessions of composite calls.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::{Rc, Weak};
use alloc::string::String;
use alloc::vec::Vec;

use drystone_component::wire::{Event, Handle};

use super::composites::ClientLine;
use super::connection::Peer;
use super::half::Half;
use super::line::{Line, one_served_less};
use super::offer::Offer;
use crate::Expected;

impl Peer {
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
        if !self.wake_pump(handle) {
            self.hear(line, handle);
        }
    }

    /// Tells a session of composite calls, if this is one, that a message has arrived.
    fn hear(&self, line: &Rc<dyn Line>, handle: Handle) {
        let shipper = self.shippers.borrow().get(&handle).cloned();
        if shipper.is_some_and(|shipper| !shipper.hear(&self.connection, handle)) {
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
        one_served_less(&**line);
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
                self.shippers
                    .borrow_mut()
                    .insert(handle, composites.take(client, Box::new(Session::new(line, handle))));
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

/// A communication over which the other end ships composite calls, for the service that runs them.
struct Session {
    line: Weak<dyn Line>,
    handle: Handle,
    expected: Expected,
}

impl Session {
    fn new(line: &Rc<dyn Line>, handle: Handle) -> Session {
        Session { line: Rc::downgrade(line), handle, expected: line.expected().clone() }
    }
}

impl ClientLine for Session {
    fn find(&self, name: &[u8]) -> Option<(Rc<Offer>, usize)> {
        self.line.upgrade()?.find(name)
    }

    fn has_room(&self) -> bool {
        // What is sent on a line that is gone takes no room.
        self.line.upgrade().is_none_or(|line| line.peer().connection.borrow_mut().has_room(self.handle))
    }

    fn reply(&self, message: usize, values: &dyn Fn(&mut Vec<u8>)) {
        let Some(line) = self.line.upgrade() else { return };
        let sent = line.peer().connection.borrow_mut().send(self.handle, message, |out| {
            values(out);
            Ok(())
        });
        if let Err(why) = sent {
            line.peer().connection.borrow_mut().abandon(self.handle, &why);
            line.peer().dismiss(&line, self.handle);
        }
        line.send_soon();
    }

    fn expected(&self) -> &Expected {
        &self.expected
    }
}
