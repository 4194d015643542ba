//! A client stays with the server that it was given first, until a communication with that is lost: what it says by
//! itself and the blocks that it ships go over the same line.

use std::cell::RefCell;
use std::rc::Rc;

use drystone_kortex::peer::{Line, Wanted};
use drystone_runtime::far::{Arrival, Far, Filling, Outgoing, Waker};

use super::link::Link;
use super::session::Session;

/// See the head of this file.
pub(super) struct Stay {
    session: Rc<Session>,
    name: Rc<str>,
    /// The line to the server; none before the first, and when another server shall be asked for.
    link: RefCell<Option<Rc<Link>>>,
}

impl Stay {
    /// With a server of what a name means.
    pub(super) fn new(session: Rc<Session>, name: &Rc<str>) -> Rc<Stay> {
        Rc::new(Stay { session, name: name.clone(), link: RefCell::default() })
    }

    /// Begins to talk to that server about something.
    pub(super) fn begin(self: &Rc<Stay>, wanted: &Wanted) -> impl Far + use<> {
        let link = self.link();
        let line: Rc<dyn Line> = link.clone();
        let is_for_name = wanted.there == self.name;
        Staying { far: wanted.begin(&line), stay: self.clone(), link, is_for_name }
    }

    /// Tells this server from those of others that use the same name, and from that with which it stayed before.
    pub(super) fn number(&self) -> usize {
        Rc::as_ptr(&self.link()).addr()
    }

    fn link(&self) -> Rc<Link> {
        let link = &mut *self.link.borrow_mut();
        link.take_if(|link| link.is_over());
        link.get_or_insert_with(|| Link::dial(&self.session, &self.name)).clone()
    }

    /// A communication over it was lost: perhaps another server has what this one hasn't any more.
    fn doubt(&self, doubtful: &Rc<Link>) {
        let left = self.link.borrow_mut().take_if(|link| Rc::ptr_eq(link, doubtful));
        drop(left);
    }
}

/// A communication with that server.
struct Staying {
    far: Box<dyn Far>,
    stay: Rc<Stay>,
    link: Rc<Link>,
    /// It is about what the name means, and not with who takes blocks.
    is_for_name: bool,
}

impl Far for Staying {
    fn attach(&mut self, pump: Waker) {
        self.far.attach(pump);
    }

    fn has_room(&mut self) -> bool {
        self.far.has_room()
    }

    fn send(&mut self, message: usize, values: Outgoing<'_>) {
        self.far.send(message, values);
    }

    fn receive(&mut self) -> Arrival {
        let arrival = self.far.receive();
        // Who takes no blocks has what the name means all the same.
        if matches!(arrival, Arrival::Lost(_)) && (self.is_for_name || !self.far.was_refused()) {
            self.stay.doubt(&self.link);
        }
        arrival
    }

    fn take(&mut self, values: &mut Filling<'_>) -> Result<(), String> {
        self.far.take(values)
    }

    fn close(&mut self) {
        self.far.close();
    }

    fn was_refused(&self) -> bool {
        self.far.was_refused()
    }
}
