//! Who uses a connection: lines, what is offered, and who listens or speaks.

use std::rc::Rc;
use std::task::Context;

use async_nats::Subject;

use super::{Place, Session, Stage};
use crate::event::{Ear, Voice};
use crate::export::Export;
use crate::link::Link;
use crate::partner::Partner;
use crate::register::{Found, look_up};

/// Most clients that are served at once.
const MOST: usize = 1 << 16;

impl Session {
    /// Offers something there, now and whenever there is a connection.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn offer(&self, export: &Rc<Export>) -> Result<(), String> {
        self.connect_now()?;
        if let Stage::Open(open) = &*self.stage.borrow() {
            export.offer(open);
        }
        self.exports.borrow_mut().push(Rc::downgrade(export));
        Ok(())
    }

    /// A line wants to begin.
    pub(crate) fn wanted(&self, link: &Rc<Link>) {
        match self.connect() {
            Ok(()) => link.ask(),
            Err(why) => link.lose(&why),
        }
        self.write_later();
    }

    /// Someone listens to events.
    pub(crate) fn listen(&self, ear: &Rc<Ear>) {
        self.ears.borrow_mut().push(Rc::downgrade(ear));
        if let Err(why) = self.connect() {
            return ear.lose(&why);
        }
        if let Stage::Open(open) = &*self.stage.borrow() {
            ear.ask(open);
        }
        self.beat_later();
    }

    /// Someone has events to say.
    pub(crate) fn speak(&self, voice: &Rc<Voice>) {
        self.voices.borrow_mut().push(Rc::downgrade(voice));
        self.beat_later();
    }

    /// Lets one take what has come.
    pub(crate) fn hear(&self, ear: &Ear) {
        if let Some(waker) = self.waker() {
            ear.serve(&mut Context::from_waker(&waker));
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
        match places.get(name) {
            Some(Place::Known(found)) => Some(found.clone()),
            _ => {
                let Stage::Open(open) = &*self.stage.borrow() else { return None };
                let task = open.begin(look_up(open.client.clone(), name.to_string()));
                places.insert(name.to_string(), Place::Asked(task));
                None
            }
        }
    }

    /// Nobody serves it there any more.
    pub(crate) fn misplaced(&self, name: &str) {
        self.places.borrow_mut().remove(name);
    }

    /// A number for a line.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.set(self.numbers.get() + 1);
        self.numbers.get()
    }

    /// The subject of this program's line of that number, if there is a connection.
    pub(crate) fn subject(&self, number: u64) -> Option<Subject> {
        match &*self.stage.borrow() {
            Stage::Open(open) => Some(format!("{}.{number}", open.prefix).into()),
            _ => None,
        }
    }

    /// The program to which a subject belongs.
    pub(crate) fn partner(&self, there: &Subject) -> Option<Rc<Partner>> {
        self.beat_later();
        let Stage::Open(open) = &*self.stage.borrow() else { return None };
        self.partners.of(there, &open.prefix)
    }

    pub(crate) fn add(&self, number: u64, link: &Rc<Link>) {
        self.lines.borrow_mut().insert(number, Rc::downgrade(link));
    }

    /// A line of a client elsewhere: it is there until it is over.
    pub(crate) fn keep(&self, number: u64, link: Rc<Link>) {
        self.served.borrow_mut().insert(number, link);
    }

    /// Whether there are as many of these as may be.
    pub(crate) fn is_full(&self) -> bool {
        self.served.borrow().len() >= MOST
    }

    /// A line is over.
    pub(crate) fn forget(&self, number: u64) {
        self.lines.borrow_mut().remove(&number);
        let served = self.served.borrow_mut().remove(&number);
        // It may say something when it goes.
        drop(served);
    }

    /// What the server has complained of, once.
    pub(crate) fn complaint(&self) -> Option<String> {
        match &*self.stage.borrow() {
            Stage::Open(open) => open.bell.complaint(),
            _ => None,
        }
    }
}
