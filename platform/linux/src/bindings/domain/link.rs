//! A channel with the communications that go over it: what two domains have between them.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::rc::{Rc, Weak};

use drystone_component::Interface;
use drystone_component::wire::{Limits, Role};
use drystone_runtime::far::{Exported, Far, Harbour, Reach, Shipment, Waker};

use crate::bindings::channel::End;
use crate::bindings::composite::{Composites, Ships, taker};
use crate::bindings::peer::{Brought, Line, Names, Offer, Peer, Wanted};
use crate::bindings::rings::Served;
use crate::reactor::{Expectation, Reactor};

/// Signs that two domains show each other.
pub(crate) mod sign {
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

/// What each side takes of the other, where so many messages of a communication may be on their way.
fn limits(capacity: u32) -> Limits {
    let usual = Limits::default().messages;
    Limits { messages: usual.min(capacity), largest: 1 << 28, sum: 1 << 30, ..Limits::default() }
}

const NONSENSE: &str = "the other domain has written nonsense into the memory between us";

/// See the head of this file.
pub(crate) struct Link {
    me: Weak<Link>,
    /// Where the component is, for people.
    name: Rc<str>,
    peer: Peer,
    /// Messages of a communication that may be on their way to this side.
    capacity: u32,
    names: Rc<Names>,
    reactor: Rc<Reactor>,
    end: RefCell<End>,
    /// Its place in the reactor.
    source: Cell<Option<usize>>,
    expectation: RefCell<Option<Expectation>>,
    /// What the other side shows.
    sign: Cell<u32>,
    lost: Cell<bool>,
    /// Why.
    why: RefCell<String>,
    /// What runs composite calls, in a domain that its program may ship some to. It doesn't trust the domain as far.
    composites: Option<Rc<Composites>>,
    /// What was made there, if that is to be missed.
    component: Cell<Option<&'static str>>,
    /// Whom to wake when these change.
    watcher: RefCell<Option<Waker>>,
}

impl Link {
    /// Begins to serve a channel, on which so many messages of a communication may be on their way to this side; with what runs
    /// composite calls at the end where the component is. It is served until [`hang_up`](Link::hang_up).
    pub(crate) fn new(
        name: &str,
        end: End,
        composites: Option<Rc<Composites>>,
        reactor: &Rc<Reactor>,
        capacity: u32,
    ) -> io::Result<Rc<Link>> {
        let role = if composites.is_some() { Role::Acceptor } else { Role::Dialer };
        let link = Rc::new_cyclic(|me| Link {
            me: me.clone(),
            name: name.into(),
            peer: Peer::new(role, limits(capacity)),
            capacity,
            names: Rc::default(),
            reactor: reactor.clone(),
            end: RefCell::new(end),
            source: Cell::new(None),
            expectation: RefCell::new(Some(reactor.expect())),
            sign: Cell::new(0),
            lost: Cell::new(false),
            why: RefCell::default(),
            composites,
            component: Cell::default(),
            watcher: RefCell::default(),
        });
        link.source.set(Some(reactor.serve(link.clone())?));
        Ok(link)
    }

    fn line(&self) -> Rc<dyn Line> {
        self.me.upgrade().expect("is used through it")
    }

    fn wanted(&self, interface: &'static Interface, there: &str) -> Wanted {
        Wanted { interface, name: self.name.clone(), there: there.into(), capacity: self.capacity }
    }

    /// What reaches an interface that the other side exports by this name.
    pub(crate) fn reach(self: &Rc<Link>, interface: &'static Interface, name: &str) -> Box<dyn Reach> {
        Box::new(Bound { link: self.clone(), wanted: self.wanted(interface, name) })
    }

    /// Exports an interface to the other side, once by each name.
    pub(crate) fn export(&self, interface: &'static Interface, name: &str) -> Box<dyn Exported> {
        let wanted = self.wanted(interface, name);
        let offer = self.names.add(&wanted).expect("a component has each of its interfaces once");
        let may_come = self.reactor.expect();
        let (names, there) = (self.names.clone(), wanted.there);
        Box::new(Brought { offer, there, names, _door: (), _may_come: may_come })
    }

    /// Where it is served.
    pub(crate) fn reactor(&self) -> &Rc<Reactor> {
        &self.reactor
    }

    /// Whether there is anything that the other side was not sent.
    pub(crate) fn has_output(&self) -> bool {
        self.peer.has_output()
    }

    /// Whether all that the other side has begun is over here.
    pub(crate) fn is_quiet(&self) -> bool {
        self.peer.is_quiet()
    }

    /// Wakes whoever wants to know, whenever the other side's sign has changed, it is lost, or all that it has begun is over.
    pub(crate) fn watch(&self, watcher: Waker) {
        *self.watcher.borrow_mut() = Some(watcher);
    }

    /// What the other side shows.
    pub(crate) fn sign(&self) -> u32 {
        self.sign.get()
    }

    /// Shows the other side this.
    pub(crate) fn show(&self, sign: u32) {
        self.end.borrow_mut().show(sign);
    }

    /// Whether the other side is there no more.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.get()
    }

    /// Why, if its component has not been deleted in good order.
    pub(crate) fn ended(&self) -> Option<String> {
        (self.is_lost() && self.sign() != sign::GONE).then(|| self.why.borrow().clone())
    }

    /// If the other side ends and doesn't say so itself, people are told that the component has.
    pub(crate) fn miss(&self, component: &'static str) {
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
    pub(crate) fn lose(&self, why: &str) {
        if let Some(component) = self.component.take().filter(|_| !self.is_lost()) {
            let _ = writeln!(io::stderr(), "warning: {component} AT {} has ended: {why}", self.name);
        }
        self.part(why);
    }

    /// Its process has ended, or whatever it was in: what it said last is heard before.
    pub(crate) fn end(&self, why: &str) {
        self.hear();
        let sign = self.end.borrow_mut().sign();
        match sign {
            sign::LAST.. => self.part(why),
            _ => self.lose(why),
        }
    }

    /// The channel isn't served any more.
    pub(crate) fn hang_up(&self) {
        self.part("it has ended");
        if let Some(source) = self.source.take() {
            self.reactor.leave_alone(source, self);
        }
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

    /// The reactor sees that there is mail.
    fn send_soon(&self) {}

    fn send_now(&self) {
        if self.has_mail() {
            self.speak();
            self.end.borrow_mut().tell();
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

    fn composites(&self) -> Option<&Rc<Composites>> {
        self.composites.as_ref()
    }

    fn reactor(&self) -> &Rc<Reactor> {
        &self.reactor
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
        let is_there = link.composites.is_none();
        let number = Rc::as_ptr(link).addr();
        is_there.then_some(Harbour { program: &link.name, number, name: &wanted.there, is_open: true })
    }

    fn ship(&self, shipment: Shipment<'_>) -> Option<Box<dyn Reach>> {
        let taker = Bound { link: self.link.clone(), wanted: taker(&self.link.name) };
        Some(Box::new(Ships::new(Box::new(taker), self.harbour()?, shipment)))
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
