//! A link: a channel between two domains, with its communications.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::{Rc, Weak};
use alloc::string::String;
use core::cell::{Cell, RefCell};

use drystone_component::Interface;
use drystone_component::wire::{Limits, Role};
use drystone_runtime::far::{Exported, Far, Harbour, Reach, Shipment, Waker};

use super::channel::End;
use super::rings::{Rings, Served};
use crate::peer::{Brought, Composites, Line, Names, Offer, Peer, Wanted};
use crate::{Expectation, Expected};

/// What a platform provides for the channels of a program.
pub trait Home: 'static {
    /// The channels that it serves.
    fn rings(&self) -> &Rings;

    /// What may arrive from outside, including over these channels.
    fn expected(&self) -> &Expected;

    /// Writes a message to standard error.
    fn report(&self, message: &str);

    /// Limits on memory for another domain's messages.
    fn limits(&self) -> Limits {
        Limits { largest: 1 << 28, sum: 1 << 30, ..Limits::default() }
    }
}

/// The party at this end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    /// The program that holds a component. The component, at the other end, trusts it more than it trusts the
    /// component.
    Holder,
    /// The component.
    Guest,
}

/// Signs that two domains show each other.
pub(super) mod sign {
    /// The component's: its BEGIN and ACTIVITY have ended.
    pub(crate) const PASSIVE: u32 = 1;
    /// The component's: it has been deleted normally.
    pub(crate) const GONE: u32 = 2;
    /// The component's: its domain has ended in another way.
    pub(crate) const FAILED: u32 = 3;

    /// The program's: the component is to be deleted.
    pub(crate) const DELETE: u32 = 1;
    /// The program's: the component isn't wanted any more.
    pub(crate) const HALT: u32 = 2;

    /// From this sign on, nothing more arrives.
    pub(super) const LAST: u32 = 2;
}

const NONSENSE: &str = "the other domain has written nonsense into the memory between us";

/// One end of a link.
pub struct Link {
    me: Weak<Link>,
    /// Where the component is, for messages to people.
    name: Rc<str>,
    peer: Peer,
    /// Messages of a communication that may be on their way to this side.
    capacity: u32,
    names: Rc<Names>,
    home: Rc<dyn Home>,
    party: Party,
    end: RefCell<End>,
    expectation: RefCell<Option<Expectation>>,
    /// The other side's sign.
    sign: Cell<u32>,
    lost: Cell<bool>,
    /// Why the other side is lost.
    why: RefCell<String>,
    /// Runs the holder's composite calls at the component's end, and ships them at the holder's.
    composites: Option<Rc<dyn Composites>>,
    /// The component at the other end, if its unexpected end is to be reported.
    component: Cell<Option<&'static str>>,
    /// Woken when `sign` or `lost` changes, or the link becomes quiet.
    watcher: RefCell<Option<Waker>>,
}

impl Link {
    /// Serves a channel until [`hang_up`](Link::hang_up). `name` says where the other side is, for people. `capacity`
    /// is the most messages of a communication that may be on their way to this side.
    pub fn new(
        name: &str,
        (party, end): (Party, End),
        home: &Rc<dyn Home>,
        composites: Option<Rc<dyn Composites>>,
        capacity: u32,
    ) -> Rc<Link> {
        let role = match party {
            Party::Holder => Role::Dialer,
            Party::Guest => Role::Acceptor,
        };
        let usual = home.limits();
        let limits = Limits { messages: usual.messages.min(capacity), ..usual };
        let link = Rc::new_cyclic(|me| Link {
            me: me.clone(),
            name: name.into(),
            peer: Peer::new(role, limits),
            capacity,
            names: Rc::default(),
            home: home.clone(),
            party,
            end: RefCell::new(end),
            expectation: RefCell::new(Some(home.expected().expect())),
            sign: Cell::new(0),
            lost: Cell::new(false),
            why: RefCell::default(),
            composites,
            component: Cell::default(),
            watcher: RefCell::default(),
        });
        home.rings().add(link.clone());
        link
    }

    fn line(&self) -> Rc<dyn Line> {
        self.me.upgrade().expect("is used through it")
    }

    fn wanted(&self, interface: &'static Interface, there: &str) -> Wanted {
        Wanted { interface, name: self.name.clone(), there: there.into(), capacity: self.capacity }
    }

    /// A binding to the interface that the other side exports by this name.
    pub fn reach(self: &Rc<Link>, interface: &'static Interface, name: &str) -> Box<dyn Reach> {
        Box::new(Bound { link: self.clone(), wanted: self.wanted(interface, name) })
    }

    /// Exports an interface to the other side, once by each name.
    pub fn export(&self, interface: &'static Interface, name: &str) -> Box<dyn Exported> {
        let wanted = self.wanted(interface, name);
        let offer = self.names.add(&wanted).expect("a component has each of its interfaces once");
        Box::new(Brought::new(&self.names, offer, (), self.home.expected()))
    }

    /// The home that serves the channel.
    pub(super) fn home(&self) -> &Rc<dyn Home> {
        &self.home
    }

    /// Whether messages are waiting to be sent.
    pub fn has_output(&self) -> bool {
        self.peer.has_output()
    }

    /// Whether all communications that the other side has begun are over here.
    pub fn is_quiet(&self) -> bool {
        self.peer.is_quiet()
    }

    /// Sets a waker for these events: the other side's sign changes, the other side is lost, or the communications that
    /// it has begun are all over.
    pub fn watch(&self, watcher: Waker) {
        *self.watcher.borrow_mut() = Some(watcher);
    }

    /// The other side's sign.
    pub fn sign(&self) -> u32 {
        self.sign.get()
    }

    /// Shows the other side a sign.
    pub fn show(&self, sign: u32) {
        self.end.borrow_mut().show(sign);
    }

    /// Whether the other side is lost.
    pub fn is_lost(&self) -> bool {
        self.lost.get()
    }

    /// Why the other side is lost, unless its component was deleted normally.
    pub fn ended(&self) -> Option<String> {
        (self.is_lost() && self.sign() != sign::GONE).then(|| self.why.borrow().clone())
    }

    /// Has the unexpected end of this component, at the other side, reported to people.
    pub fn miss(&self, component: &'static str) {
        self.component.set(Some(component));
    }

    /// The other side has ended.
    fn part(&self, why: &str) {
        if !self.lost.replace(true) {
            self.expectation.borrow_mut().take();
            self.why.borrow_mut().push_str(why);
            self.peer.lost(&self.line(), why);
            self.alert();
        }
    }

    /// The other side has ended unexpectedly.
    pub fn lose(&self, why: &str) {
        if let Some(component) = self.component.take().filter(|_| !self.is_lost()) {
            self.home.report(&format!("warning: {component} AT {} has ended: {why}\n", self.name));
        }
        self.part(why);
    }

    /// The other side's process or domain has ended. Its last messages are still read.
    pub fn end(&self, why: &str) {
        self.hear();
        let sign = self.end.borrow_mut().sign();
        match sign {
            sign::LAST.. => self.part(why),
            _ => self.lose(why),
        }
    }

    /// Stops serving the channel.
    pub fn hang_up(&self) {
        self.part("it has ended");
        self.home.rings().remove(self);
    }

    fn alert(&self) {
        self.watcher.borrow().iter().for_each(Waker::wake);
    }

    /// Reads what has arrived. A side that writes nonsense counts as lost.
    fn hear(&self) {
        // The sign is read first: all that was written before it is visible then.
        let sign = self.end.borrow_mut().sign();
        let line = self.line();
        let read = self.end.borrow_mut().read(&mut |bytes| self.peer.feed(&line, bytes));
        match read {
            Err(_) => return self.lose(NONSENSE),
            Ok(_) if self.peer.failure().is_some() => return self.lose(NONSENSE),
            // The sign comes after the bytes that are left, which other work need not wait for.
            Ok(false) => return,
            Ok(true) => {}
        }
        if self.sign.replace(sign) != sign {
            self.alert();
        }
        match sign {
            sign::FAILED => self.part("it has ended by itself, by an error or HALT"),
            sign::LAST.. => self.part("it has ended"),
            _ => {}
        }
    }

    /// Sends as much as there is room for.
    fn speak(&self) {
        let mut nonsense = false;
        let _ = self.peer.output(|bytes| {
            let end = &mut *self.end.borrow_mut();
            let written = end.write(bytes);
            nonsense = written.is_err();
            let written = written.unwrap_or(0);
            end.starve(written < bytes.len());
            if written == 0 { Err(Full) } else { Ok(written) }
        });
        if nonsense {
            self.lose(NONSENSE);
        }
    }
}

/// There is no room now.
struct Full;

impl Line for Link {
    fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Nothing to do: the home sees that there is mail.
    fn send_soon(&self) {}

    fn send_now(&self) {
        if self.has_mail() {
            self.speak();
            self.end.borrow_mut().tell_of_much();
        }
    }

    /// A name may have a slot number of the required interface after `/`.
    fn find(&self, name: &[u8]) -> Option<(Rc<Offer>, usize)> {
        let name = str::from_utf8(name).ok()?;
        let (name, slot) = name.split_once('/').unwrap_or((name, "1"));
        Some((self.names.find(name.as_bytes())?, slot.parse().ok()?))
    }

    fn quiet(&self) {
        self.alert();
    }

    fn composites(&self) -> Option<&Rc<dyn Composites>> {
        self.composites.as_ref().filter(|_| self.party == Party::Guest)
    }

    fn expected(&self) -> &Expected {
        self.home.expected()
    }
}

/// A binding to an interface of the other side.
struct Bound {
    link: Rc<Link>,
    wanted: Wanted,
}

impl Reach for Bound {
    fn begin(&mut self) -> Box<dyn Far> {
        self.wanted.begin(&self.link.line())
    }

    fn harbour(&self) -> Option<Harbour<'_>> {
        let Bound { link, wanted } = self;
        let ships = link.party == Party::Holder && link.composites.is_some();
        let number = Rc::as_ptr(link).addr();
        ships.then_some(Harbour { program: &link.name, number, name: &wanted.there, is_open: true })
    }

    fn ship(&self, shipment: Shipment<'_>) -> Option<Box<dyn Reach>> {
        let (link, composites) = (self.link.clone(), self.link.composites.as_ref()?);
        let wanted = composites.service().wanted(&link.name);
        Some(composites.ship(Box::new(Bound { link, wanted }), self.harbour()?, shipment))
    }
}

impl Served for Link {
    fn end(&self) -> &RefCell<End> {
        &self.end
    }

    fn has_mail(&self) -> bool {
        !self.lost.get() && self.peer.has_output() && self.end.borrow().has_room()
    }

    fn abandon(&self) {
        if !self.lost.get() {
            self.show(sign::HALT);
        }
        self.hang_up();
    }

    fn serve(&self) {
        if self.lost.get() {
            self.end.borrow_mut().ignore();
            return;
        }
        self.hear();
        self.speak();
        // There may be room for more now.
        self.peer.tell(&self.line());
        self.end.borrow_mut().tell();
    }
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
