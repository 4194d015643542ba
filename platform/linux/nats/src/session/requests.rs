//! What the users of a connection ask for.

use std::rc::{Rc, Weak};
use std::task::Context;

use async_nats::Subject;

use super::{Place, Session};
use crate::partner::Partner;
use crate::register::{Found, look_up};
use crate::users::{Stream, User};

/// Most streams of clients elsewhere.
const MOST: usize = 1 << 16;

impl Session {
    /// One more user, until it is dropped. It is told of a connection at once, if there is one.
    pub(crate) fn add_user(&self, user: Rc<dyn User>) {
        self.users.borrow_mut().push(Rc::downgrade(&user));
        self.with_open(|open| user.opened(open));
        if user.has_beats() {
            self.beat_later();
        }
    }

    /// The same for a user that waits for a connection.
    pub(crate) fn add_waiting_user(&self, user: Rc<dyn User>) {
        let connected = self.connect();
        self.add_user(user.clone());
        if let Err(why) = connected {
            user.lost(&why);
        }
    }

    /// A stream wants to begin.
    pub(crate) fn wanted(&self, stream: &dyn Stream) {
        match self.connect() {
            Ok(()) => stream.ask(),
            Err(why) => stream.lose(&why),
        }
        self.write_later();
    }

    /// Lets a user take what has come.
    pub(crate) fn serve_now(&self, user: &dyn User) {
        if let Some(waker) = self.with_open(|open| open.waker.clone()) {
            user.serve(&mut Context::from_waker(&waker));
        }
    }

    /// Where a name is served; `None`: that will be known.
    pub(crate) fn place(&self, name: &str) -> Option<Found> {
        let places = &mut *self.places.borrow_mut();
        self.seeks.set(true);
        if let Some(Place::Asked(task)) = places.get(name) {
            let found = task.poll()?.unwrap_or_else(|_| Found { subject: name.to_string(), is_listed: true });
            places.insert(name.to_string(), Place::Known(found));
        }
        if let Some(Place::Known(found)) = places.get(name) {
            return Some(found.clone());
        }
        let task = self.with_open(|open| open.begin(look_up(open.client.clone(), name.to_string())))?;
        places.insert(name.to_string(), Place::Asked(task));
        None
    }

    /// The name isn't served there any more.
    pub(crate) fn misplaced(&self, name: &str) {
        self.places.borrow_mut().remove(name);
    }

    /// A number for a stream.
    pub(crate) fn number(&self) -> u64 {
        self.last.set(self.last.get() + 1);
        self.last.get()
    }

    /// The subject of this program's stream of that number, if there is a connection.
    pub(crate) fn subject(&self, number: u64) -> Option<Subject> {
        self.with_open(|open| format!("{}.{number}", open.prefix).into())
    }

    /// The program to which a subject belongs.
    pub(crate) fn partner(&self, there: &Subject) -> Option<Rc<Partner>> {
        self.beat_later();
        self.with_open(|open| self.partners.of(there, &open.prefix)).flatten()
    }

    /// Messages to this number are the stream's.
    pub(crate) fn add(&self, number: u64, stream: Weak<dyn Stream>) {
        self.streams.borrow_mut().insert(number, stream);
    }

    /// Keeps the stream of a client elsewhere until it is over.
    pub(crate) fn keep(&self, number: u64, stream: Rc<dyn Stream>) {
        self.served.borrow_mut().insert(number, stream);
    }

    /// Whether it keeps as many of these as it may.
    pub(crate) fn is_full(&self) -> bool {
        self.served.borrow().len() >= MOST
    }

    /// A stream is over.
    pub(crate) fn forget(&self, number: u64) {
        self.streams.borrow_mut().remove(&number);
        let served = self.served.borrow_mut().remove(&number);
        // Without the borrow: it may send something when it is dropped.
        drop(served);
    }

    /// What the server has complained of, once.
    pub(crate) fn complaint(&self) -> Option<String> {
        self.with_open(|open| open.bell.complaint()).flatten()
    }
}
