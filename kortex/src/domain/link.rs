//! A channel with the communications that go over it: what two domains have between them.

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

/// What a platform gives to the channels of a program.
pub trait Home: 'static {
    /// Those that it serves.
    fn rings(&self) -> &Rings;

    /// What may come from outside, which includes what comes over them.
    fn expected(&self) -> &Expected;

    /// Writes a message to standard error.
    fn report(&self, message: &str);

    /// What is taken of another domain at most: as much memory is there.
    fn limits(&self) -> Limits {
        Limits { largest: 1 << 28, sum: 1 << 30, ..Limits::default() }
    }
}

/// Who is at this end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    /// The program that holds a component, which is at the other end. It doesn't trust that one as far as that one
    /// trusts it.
    Holder,
    /// The component.
    Guest,
}

/// Signs that two domains show each other.
pub(super) mod sign {
    /// Of a component: its BEGIN and ACTIVITY have ended.
    pub(crate) const PASSIVE: u32 = 1;
    /// Of a component: it has been deleted in good order.
    pub(crate) const GONE: u32 = 2;
    /// Of a component: its domain has come to an end in another way.
    pub(crate) const FAILED: u32 = 3;

    /// Of its program: it is to be deleted.
    pub(crate) const DELETE: u32 = 1;
    /// Of its program: nobody wants it any more.
    pub(crate) const HALT: u32 = 2;

    /// After this and all greater ones nothing more comes.
    pub(super) const LAST: u32 = 2;
}

const NONSENSE: &str = "the other domain has written nonsense into the memory between us";

/// See the head of this file.
pub struct Link {
    me: Weak<Link>,
    /// Where the component is, for people.
    name: Rc<str>,
    peer: Peer,
    /// Messages of a communication that may be on their way to this side.
    capacity: u32,
    names: Rc<Names>,
    home: Rc<dyn Home>,
    party: Party,
    end: RefCell<End>,
    expectation: RefCell<Option<Expectation>>,
    /// What the other side shows.
    sign: Cell<u32>,
    lost: Cell<bool>,
    /// Why.
    why: RefCell<String>,
    /// What runs composite calls that come from the holder, and ships them from there.
    composites: Option<Rc<dyn Composites>>,
    /// What was made there, if that is to be missed.
    component: Cell<Option<&'static str>>,
    /// Whom to wake when these change.
    watcher: RefCell<Option<Waker>>,
}

impl Link {
    /// Begins to serve a channel, on which so many messages of a communication may be on their way to this side. The
    /// name says where the other side is, for people. It is served until [`hang_up`](Link::hang_up).
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

    /// What reaches an interface that the other side exports by this name.
    pub fn reach(self: &Rc<Link>, interface: &'static Interface, name: &str) -> Box<dyn Reach> {
        Box::new(Bound { link: self.clone(), wanted: self.wanted(interface, name) })
    }

    /// Exports an interface to the other side, once by each name.
    pub fn export(&self, interface: &'static Interface, name: &str) -> Box<dyn Exported> {
        let wanted = self.wanted(interface, name);
        let offer = self.names.add(&wanted).expect("a component has each of its interfaces once");
        Box::new(Brought::new(&self.names, offer, (), self.home.expected()))
    }

    /// Where it is served.
    pub(super) fn home(&self) -> &Rc<dyn Home> {
        &self.home
    }

    /// Whether there is anything that the other side was not sent.
    pub fn has_output(&self) -> bool {
        self.peer.has_output()
    }

    /// Whether all that the other side has begun is over here.
    pub fn is_quiet(&self) -> bool {
        self.peer.is_quiet()
    }

    /// Wakes whoever wants to know, whenever the other side's sign has changed, it is lost, or all that it has begun is
    /// over.
    pub fn watch(&self, watcher: Waker) {
        *self.watcher.borrow_mut() = Some(watcher);
    }

    /// What the other side shows.
    pub fn sign(&self) -> u32 {
        self.sign.get()
    }

    /// Shows the other side this.
    pub fn show(&self, sign: u32) {
        self.end.borrow_mut().show(sign);
    }

    /// Whether the other side is there no more.
    pub fn is_lost(&self) -> bool {
        self.lost.get()
    }

    /// Why, if its component has not been deleted in good order.
    pub fn ended(&self) -> Option<String> {
        (self.is_lost() && self.sign() != sign::GONE).then(|| self.why.borrow().clone())
    }

    /// If the other side ends and doesn't say so itself, people are told that the component has.
    pub fn miss(&self, component: &'static str) {
        self.component.set(Some(component));
    }

    /// The other side is there no more.
    fn part(&self, why: &str) {
        if !self.lost.replace(true) {
            self.expectation.borrow_mut().take();
            self.why.borrow_mut().push_str(why);
            self.peer.lost(&self.line(), why);
            self.alert();
        }
    }

    /// The same, unexpectedly.
    pub fn lose(&self, why: &str) {
        if let Some(component) = self.component.take().filter(|_| !self.is_lost()) {
            self.home.report(&format!("warning: {component} AT {} has ended: {why}\n", self.name));
        }
        self.part(why);
    }

    /// Its process has ended, or whatever it was in: what it said last is heard before.
    pub fn end(&self, why: &str) {
        self.hear();
        let sign = self.end.borrow_mut().sign();
        match sign {
            sign::LAST.. => self.part(why),
            _ => self.lose(why),
        }
    }

    /// The channel isn't served any more.
    pub fn hang_up(&self) {
        self.part("it has ended");
        self.home.rings().remove(self);
    }

    fn alert(&self) {
        self.watcher.borrow().iter().for_each(Waker::wake);
    }

    /// Takes what has come; nonsense is the other side's end.
    fn hear(&self) {
        // The sign first: it is seen with all that was written before it.
        let sign = self.end.borrow_mut().sign();
        let line = self.line();
        let read = self.end.borrow_mut().read(&mut |bytes| self.peer.feed(&line, bytes));
        match read {
            Err(_) => return self.lose(NONSENSE),
            Ok(_) if self.peer.failure().is_some() => return self.lose(NONSENSE),
            // The sign stands behind what is left, for which others have to wait no longer.
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

    /// Sends what there is, as far as there is room.
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

    /// The home sees that there is mail.
    fn send_soon(&self) {}

    fn send_now(&self) {
        if self.has_mail() {
            self.speak();
            self.end.borrow_mut().tell_of_much();
        }
    }

    /// A name may have a number behind `/`: which of the slots of what is required.
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

/// An interface of the other side's.
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
