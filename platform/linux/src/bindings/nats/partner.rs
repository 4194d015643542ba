//! Other programs with which this one has lines: each says now and then that it is still there. When one is killed,
//! NATS answers in its place; when it can't be reached, or does nothing any more, it is missed after a while.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::time::Duration;

use async_nats::Subject;
use async_nats::message::OutboundMessage;

use super::envelope::{Envelope, Kind};
use super::link::Link;

/// How often it is said.
pub(super) const BEAT: Duration = Duration::from_secs(2);

/// After so many beats without a sign it is lost.
pub(super) const MISSES: u32 = 5;

/// See the head of this file.
pub(super) struct Partner {
    /// Where it is told that this program is there, and from where, which is for this partner alone.
    there: Subject,
    here: Subject,
    heard: Cell<bool>,
    misses: Cell<u32>,
    links: RefCell<Vec<Weak<Link>>>,
}

impl Partner {
    /// Something has come from it.
    pub(super) fn heard(&self) {
        self.heard.set(true);
    }

    pub(super) fn add(&self, link: &Weak<Link>) {
        self.links.borrow_mut().push(link.clone());
    }

    /// All lines to it that are still used.
    pub(super) fn links(&self) -> Vec<Rc<Link>> {
        let links = &mut *self.links.borrow_mut();
        links.retain(|link| link.upgrade().is_some_and(|link| !link.is_over()));
        links.iter().filter_map(Weak::upgrade).collect()
    }

    /// Time has passed; whether it is lost.
    fn is_missed(&self) -> bool {
        let misses = if self.heard.take() { 0 } else { self.misses.get() + 1 };
        self.misses.set(misses);
        misses >= MISSES
    }
}

/// Those with whom there is a line.
#[derive(Default)]
pub(super) struct Partners {
    /// By what their subjects begin with.
    known: RefCell<HashMap<String, Rc<Partner>>>,
    made: Cell<u64>,
}

impl Partners {
    /// The one to which a subject belongs; `prefix` is what this program's begin with.
    pub(super) fn of(&self, subject: &str, prefix: &str) -> Option<Rc<Partner>> {
        let (theirs, _) = subject.rsplit_once('.')?;
        let known = &mut *self.known.borrow_mut();
        if let Some(partner) = known.get(theirs) {
            return Some(partner.clone());
        }
        self.made.set(self.made.get() + 1);
        let partner = Rc::new(Partner {
            there: format!("{theirs}.{ALIVE}").into(),
            here: format!("{prefix}.p{}", self.made.get()).into(),
            heard: Cell::new(true),
            misses: Cell::default(),
            links: RefCell::default(),
        });
        known.insert(theirs.to_string(), partner.clone());
        Some(partner)
    }

    /// Something has come from the program to which this subject belongs.
    pub(super) fn heard(&self, subject: &str) {
        let theirs = subject.rsplit_once('.').map_or("", |(theirs, _)| theirs);
        self.known.borrow().get(theirs).inspect(|partner| partner.heard());
    }

    /// The one whom this program talks to from this subject.
    pub(super) fn met_at(&self, here: &Subject) -> Option<Rc<Partner>> {
        self.known.borrow().values().find(|partner| partner.here == *here).cloned()
    }

    /// Time has passed: what is to be said to all, and whom nothing has been heard of for too long.
    pub(super) fn beat(&self) -> (Vec<OutboundMessage>, Vec<Rc<Partner>>) {
        let known = &mut *self.known.borrow_mut();
        known.retain(|_, partner| !partner.links().is_empty());
        let alive = Envelope { kind: Kind::Alive, sent: 0, received: 0, bytes: &[] };
        let said = known.values().map(|partner| alive.to(&partner.there, &partner.here)).collect();
        (said, known.values().filter(|partner| partner.is_missed()).cloned().collect())
    }

    /// Whether there are any, as far as is known.
    pub(super) fn is_empty(&self) -> bool {
        self.known.borrow().is_empty()
    }

    pub(super) fn clear(&self) {
        self.known.borrow_mut().clear();
    }
}

/// The last part of the subject at which a program hears that others are there.
pub(super) const ALIVE: &str = "alive";
