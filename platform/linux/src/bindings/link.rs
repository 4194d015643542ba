//! The communications of one connection to another domain: the near halves of what [`Connection`] keeps apart, whatever
//! carries its bytes.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::rc::{Rc, Weak};

use drystone_component::Interface;
use drystone_component::wire::{self, Connection, Event, Handle};
use drystone_runtime::far::{Arrival, Exported, Far, Filling, Outgoing, Reach, Waker};

/// See the head of this file.
pub(crate) struct Link {
    connection: RefCell<Connection>,
    /// Whom to wake for which communication.
    wakers: RefCell<HashMap<Handle, Waker>>,
    exports: RefCell<HashMap<Vec<u8>, Rc<Export>>>,
    /// How many communications the other side has begun that aren't over here.
    served: Cell<usize>,
    /// Whom to wake when there is none of these any more.
    watcher: RefCell<Option<Waker>>,
}

/// What is exported under a name.
struct Export {
    interface: &'static Interface,
    waiting: RefCell<VecDeque<(Handle, usize)>>,
    listener: RefCell<Option<Waker>>,
    withdrawn: Cell<bool>,
}

impl Link {
    pub(crate) fn new(connection: Connection) -> Rc<Link> {
        let (wakers, exports) = (RefCell::default(), RefCell::default());
        let (served, watcher) = Default::default();
        Rc::new(Link { connection: RefCell::new(connection), wakers, exports, served, watcher })
    }

    /// These bytes have come.
    pub(crate) fn feed(&self, bytes: &[u8]) {
        self.connection.borrow_mut().feed(bytes);
    }

    /// Tells everyone what has happened because of bytes that have come or gone.
    pub(crate) fn tell(&self) {
        // A waker doesn't run anything.
        while let Some(event) = self.next_event() {
            match event {
                Event::Ready(handle) => self.wake(handle),
                Event::Offered { handle, name } => self.offered(handle, &name),
                Event::Asked { request, name } => self.asked(request, &name),
                Event::Answered { .. } | Event::Pong(_) => {}
            }
        }
    }

    fn next_event(&self) -> Option<Event> {
        self.connection.borrow_mut().poll()
    }

    fn wake(&self, handle: Handle) {
        if let Some(waker) = self.wakers.borrow().get(&handle) {
            waker.wake();
        }
    }

    /// A name may have a number behind `/`: which of the slots of what is required.
    fn export(&self, name: &[u8]) -> Option<(Rc<Export>, usize)> {
        let end = name.iter().position(|&byte| byte == b'/');
        let slot = end.map_or(Some(1), |end| str::from_utf8(&name[end + 1..]).ok()?.parse().ok());
        let exports = self.exports.borrow();
        let export = exports.get(&name[..end.unwrap_or(name.len())])?;
        Some((export.clone(), slot?))
    }

    fn offered(&self, handle: Handle, name: &[u8]) {
        match self.export(name) {
            Some((export, slot)) if !export.withdrawn.get() => {
                if self.connection.borrow_mut().accept(handle, export.interface, 0) {
                    self.served.set(self.served.get() + 1);
                    export.waiting.borrow_mut().push_back((handle, slot));
                    export.listener.borrow().iter().for_each(Waker::wake);
                }
            }
            _ => self.connection.borrow_mut().refuse(handle, "nothing is exported by that name"),
        }
    }

    fn asked(&self, request: u32, name: &[u8]) {
        let interface = self.export(name).map(|(export, _)| export.interface);
        let interface = interface.ok_or("nothing is exported by that name");
        self.connection.borrow_mut().answer(request, interface);
    }

    /// Wakes that one when the last communication that the other side has begun is over here.
    pub(crate) fn watch(&self, watcher: Waker) {
        *self.watcher.borrow_mut() = Some(watcher);
    }

    /// Whether all that the other side has begun is over here: what it has said last has been taken.
    pub(crate) fn is_quiet(&self) -> bool {
        self.served.get() == 0
    }

    fn one_less(&self) {
        self.served.set(self.served.get() - 1);
        if self.is_quiet() {
            self.watcher.borrow().iter().for_each(Waker::wake);
        }
    }

    /// Whether there are bytes to be sent.
    pub(crate) fn has_output(&self) -> bool {
        self.connection.borrow().has_output()
    }

    /// Gives the bytes that are to be sent to `send`, which answers how many it has taken.
    pub(crate) fn send(&self, send: impl FnOnce(&[u8]) -> usize) {
        let connection = &mut *self.connection.borrow_mut();
        let sent = send(connection.output());
        connection.sent(sent);
    }

    /// No more bytes come or go: everything is lost, for this reason.
    pub(crate) fn lost(&self, reason: &str) {
        self.connection.borrow_mut().lost(reason);
        self.tell();
    }

    /// Exports an interface to the other side.
    pub(crate) fn serve(self: &Rc<Link>, name: Vec<u8>, interface: &'static Interface) -> Box<dyn Exported> {
        let (waiting, listener) = Default::default();
        let export = Rc::new(Export { interface, waiting, listener, withdrawn: Cell::new(false) });
        self.exports.borrow_mut().insert(name, export.clone());
        Box::new(Clients { link: self.clone(), export })
    }

    /// What reaches an interface that the other side exports.
    pub(crate) fn reach(self: &Rc<Link>, name: Vec<u8>, interface: &'static Interface) -> Box<dyn Reach> {
        Box::new(Name { link: Rc::downgrade(self), name, interface })
    }

    fn half(self: &Rc<Link>, handle: Handle, slot: Option<usize>) -> Box<dyn Far> {
        Box::new(Half { link: self.clone(), handle, slot, next: None, closed: false, failure: None })
    }
}

/// The clients of an export, as they come.
struct Clients {
    link: Rc<Link>,
    export: Rc<Export>,
}

impl Exported for Clients {
    fn attach(&mut self, listener: Waker) {
        *self.export.listener.borrow_mut() = Some(listener);
    }

    fn accept(&mut self) -> Option<Box<dyn Far>> {
        let (handle, slot) = self.export.waiting.borrow_mut().pop_front()?;
        Some(self.link.half(handle, Some(slot)))
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        self.export.withdrawn.set(true);
        self.export.listener.borrow_mut().take();
        for (handle, _) in self.export.waiting.borrow_mut().drain(..) {
            self.link.connection.borrow_mut().abandon(handle, "nothing is there any more");
            self.link.one_less();
        }
    }
}

/// A name at the other side.
struct Name {
    link: Weak<Link>,
    name: Vec<u8>,
    interface: &'static Interface,
}

impl Reach for Name {
    fn begin(&mut self) -> Box<dyn Far> {
        match self.link.upgrade() {
            Some(link) => {
                let handle = link.connection.borrow_mut().open(&self.name, self.interface, 0);
                link.half(handle, None)
            }
            None => Box::new(Nowhere),
        }
    }
}

/// The near half of a communication.
struct Half {
    link: Rc<Link>,
    handle: Handle,
    /// Where it begins, if the other side has begun it.
    slot: Option<usize>,
    /// The message that has come and was not taken, as it was told last.
    next: Option<usize>,
    closed: bool,
    /// Why it is over, where the connection doesn't know.
    failure: Option<String>,
}

impl Far for Half {
    fn attach(&mut self, pump: Waker) {
        self.link.wakers.borrow_mut().insert(self.handle, pump);
    }

    fn has_room(&mut self) -> bool {
        self.link.connection.borrow_mut().has_room(self.handle)
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        let sent = self.link.connection.borrow_mut().send(self.handle, message, |out| values.encode(out));
        if let Err(why) = sent {
            self.failure = Some(why);
        }
    }

    fn receive(&mut self) -> Arrival {
        if let Some(why) = &self.failure {
            return Arrival::Lost(why.clone());
        }
        if let Some(message) = self.next {
            return Arrival::Message(message);
        }
        match self.link.connection.borrow_mut().arrival(self.handle) {
            wire::Arrival::Nothing => Arrival::Nothing,
            wire::Arrival::Message(message) => {
                self.next = Some(message);
                Arrival::Message(message)
            }
            wire::Arrival::Closed => Arrival::Closed,
            wire::Arrival::Lost(why) => Arrival::Lost(why),
        }
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        self.next = None;
        let connection = &mut *self.link.connection.borrow_mut();
        values.decode(connection.payload(self.handle))?;
        connection.take(self.handle);
        Ok(())
    }

    fn slot(&self) -> usize {
        self.slot.unwrap_or(1)
    }

    fn close(&mut self) {
        self.closed = true;
        self.link.connection.borrow_mut().close(self.handle);
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        self.link.wakers.borrow_mut().remove(&self.handle);
        if !self.closed {
            let why = self.failure.as_deref().unwrap_or("the other side was ended by force");
            self.link.connection.borrow_mut().abandon(self.handle, why);
        }
        if self.slot.is_some() {
            self.link.one_less();
        }
    }
}

/// Where nothing is any more.
struct Nowhere;

impl Far for Nowhere {
    fn attach(&mut self, _: Waker) {}

    fn has_room(&mut self) -> bool {
        true
    }

    fn send(&mut self, _: usize, _: Outgoing<'_>) {}

    fn receive(&mut self) -> Arrival {
        Arrival::Lost("it has ended".to_string())
    }

    fn take(&mut self, _: &mut Filling<'_>) -> Result<(), String> {
        Ok(())
    }

    fn close(&mut self) {}
}
