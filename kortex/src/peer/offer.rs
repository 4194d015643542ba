//! Interfaces that are exported to the other ends of lines.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use core::cell::{Cell, RefCell};

use drystone_component::Interface;
use drystone_runtime::far::{Exported, Far, Visitor, Waker, as_far};

use crate::{Expectation, Expected};

/// The interface that a client wants, and its names.
#[derive(Clone)]
pub struct Wanted {
    /// What is spoken.
    pub interface: &'static Interface,
    /// The full name, for messages to people.
    pub name: Rc<str>,
    /// The name at the other end.
    pub there: Rc<str>,
    /// Messages that may be on their way; 0: the default.
    pub capacity: u32,
}

/// Exported interfaces, by their names at the other ends.
#[derive(Default)]
pub struct Names(RefCell<BTreeMap<Rc<str>, Rc<Offer>>>);

impl Names {
    /// The interface exported by a name.
    pub fn find(&self, name: &[u8]) -> Option<Rc<Offer>> {
        self.0.borrow().get(str::from_utf8(name).ok()?).cloned()
    }

    /// Exports an interface, until the [`Brought`] for it is dropped.
    ///
    /// # Errors
    /// The name is taken.
    pub fn add(&self, wanted: &Wanted) -> Result<Rc<Offer>, String> {
        let names = &mut *self.0.borrow_mut();
        if names.contains_key(&wanted.there) {
            return Err("this name is taken".to_string());
        }
        let (come, visitors, listener, is_over) = Default::default();
        let offer = Rc::new(Offer { wanted: wanted.clone(), come, visitors, listener, is_over });
        names.insert(wanted.there.clone(), offer.clone());
        Ok(offer)
    }
}

/// An exported interface, and the clients that have come for it.
pub struct Offer {
    wanted: Wanted,
    come: RefCell<VecDeque<Box<dyn Far>>>,
    visitors: RefCell<VecDeque<Box<dyn Visitor>>>,
    listener: RefCell<Option<Waker>>,
    is_over: Cell<bool>,
}

impl Offer {
    /// The full name, for messages to people.
    pub fn name(&self) -> &Rc<str> {
        &self.wanted.name
    }

    /// Messages that may be on their way; 0: the default.
    pub(super) fn capacity(&self) -> u32 {
        self.wanted.capacity
    }

    /// Whether it isn't exported any more.
    pub fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// The interface.
    pub fn interface(&self) -> &'static Interface {
        self.wanted.interface
    }

    /// Adds a client.
    pub(super) fn come(&self, client: Box<dyn Far>) {
        self.come.borrow_mut().push_back(client);
        self.tell_listener();
    }

    /// Adds a client that sends and receives messages itself, as a [`Visitor`].
    pub fn visit(&self, visitor: Box<dyn Visitor>) {
        self.visitors.borrow_mut().push_back(visitor);
        self.tell_listener();
    }

    fn tell_listener(&self) {
        self.listener.borrow().as_ref().inspect(|listener| listener.wake());
    }
}

/// An exported interface, as its program holds it.
pub struct Brought<D> {
    offer: Rc<Offer>,
    names: Rc<Names>,
    _door: D,
    _may_come: Expectation,
}

impl<D> Brought<D> {
    /// Holds an export of `names`. `door` is what makes it reachable.
    pub fn new(names: &Rc<Names>, offer: Rc<Offer>, door: D, expected: &Expected) -> Brought<D> {
        Brought { offer, names: names.clone(), _door: door, _may_come: expected.expect() }
    }
}

impl<D: 'static> Exported for Brought<D> {
    fn attach(&mut self, listener: Waker) {
        *self.offer.listener.borrow_mut() = Some(listener);
    }

    fn accept(&mut self) -> Option<Box<dyn Far>> {
        let far = self.offer.come.borrow_mut().pop_front();
        far.or_else(|| Some(as_far(self.visitor()?, self.offer.interface())))
    }

    fn visitor(&mut self) -> Option<Box<dyn Visitor>> {
        self.offer.visitors.borrow_mut().pop_front()
    }
}

impl<D> Drop for Brought<D> {
    fn drop(&mut self) {
        self.names.0.borrow_mut().remove(&self.offer.wanted.there);
        self.offer.is_over.set(true);
        // Clients that weren't accepted are lost.
        let come = (self.offer.come.take(), self.offer.visitors.take());
        drop(come);
    }
}

/// Refuses interfaces that can't be used between programs.
///
/// # Errors
/// A message carries a component.
pub fn check(interface: &Interface) -> Result<(), String> {
    match interface.messages.get().iter().find(|message| message.has_component()) {
        None => Ok(()),
        Some(message) => {
            Err(format!("{} carries a component, which can't leave its program this way", message.name.get()))
        }
    }
}
