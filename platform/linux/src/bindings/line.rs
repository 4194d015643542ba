//! A channel with the communications that go over it: what two domains have between them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use drystone_component::wire::{Connection, Limits, Role};
use drystone_runtime::far::Waker;

use super::channel::End;
use super::link::Link;
use super::rings::Served;
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

/// What each side takes of the other, with so many messages of a communication on their way.
fn limits(capacity: u32) -> Limits {
    Limits { messages: capacity, bytes: 256 * 1024, largest: 1 << 28, communications: 1 << 16 }
}

const NONSENSE: &str = "the other domain has written nonsense into the memory between us";

/// See the head of this file.
pub(crate) struct Line {
    pub(crate) link: Rc<Link>,
    reactor: Rc<Reactor>,
    end: RefCell<End>,
    /// Its place in the reactor.
    source: Cell<Option<usize>>,
    expectation: RefCell<Option<Expectation>>,
    /// What the other side shows.
    sign: Cell<u32>,
    lost: Cell<bool>,
    /// Whom to wake when these change.
    watcher: RefCell<Option<Waker>>,
}

impl Line {
    /// Begins to serve a channel, on which so many messages of a communication may be on their way to this side. It is
    /// served until [`hang_up`](Line::hang_up).
    pub(crate) fn new(
        end: End,
        role: Role,
        reactor: &Rc<Reactor>,
        capacity: u32,
    ) -> std::io::Result<Rc<Line>> {
        let line = Rc::new(Line {
            link: Link::new(Connection::new(role, limits(capacity))),
            reactor: reactor.clone(),
            end: RefCell::new(end),
            source: Cell::new(None),
            expectation: RefCell::new(Some(reactor.expect())),
            sign: Cell::new(0),
            lost: Cell::new(false),
            watcher: RefCell::default(),
        });
        line.source.set(Some(reactor.serve(line.clone())?));
        Ok(line)
    }

    /// Where it is served.
    pub(crate) fn reactor(&self) -> &Rc<Reactor> {
        &self.reactor
    }

    /// Wakes whoever wants to know, whenever the other side's sign has changed, it is lost, or all that it has begun is over.
    pub(crate) fn watch(&self, watcher: Waker) {
        self.link.watch(watcher.clone());
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

    /// The other side is there no more.
    pub(crate) fn lose(&self, why: &str) {
        if !self.lost.replace(true) {
            self.expectation.borrow_mut().take();
            self.link.lost(why);
            self.alert();
        }
    }

    /// The same, after what it said last has been heard.
    pub(crate) fn end(&self, why: &str) {
        self.hear();
        self.lose(why);
    }

    /// The channel isn't served any more.
    pub(crate) fn hang_up(&self) {
        self.lose("it has ended");
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
        let read = self.end.borrow_mut().read(&mut |bytes| self.link.feed(bytes));
        if read.is_err() {
            return self.lose(NONSENSE);
        }
        if self.sign.replace(sign) != sign {
            self.alert();
        }
        if sign >= sign::LAST {
            self.lose("it has ended");
        }
    }

    /// Sends what there is, as far as there is room.
    fn speak(&self) {
        let mut nonsense = false;
        self.link.send(|bytes| {
            let end = &mut *self.end.borrow_mut();
            let written = end.write(bytes);
            nonsense = written.is_err();
            end.starve(written.is_ok_and(|written| written < bytes.len()));
            written.unwrap_or(0)
        });
        if nonsense {
            self.lose(NONSENSE);
        }
    }
}

impl Served for Line {
    fn end(&self) -> &RefCell<End> {
        &self.end
    }

    fn has_mail(&self) -> bool {
        !self.lost.get() && self.link.has_output() && self.end.borrow().has_room()
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
        self.link.tell();
        self.speak();
        // There may be room for more now.
        self.link.tell();
        self.end.borrow_mut().tell();
    }
}
