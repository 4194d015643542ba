//! Liveness of the programs with which this one has streams. Each sends the others a beat now and then. When a program
//! is killed, NATS answers in its place; when it can't be reached, or hangs, its beats are missed after a while.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};
use std::time::Duration;

use async_nats::Subject;
use async_nats::message::OutboundMessage;

use super::envelope::{Envelope, Kind};
use super::users::Stream;

/// Time between beats.
pub(super) const BEAT: Duration = Duration::from_secs(2);

/// After so many beats without a sign a program is lost.
pub(super) const MISSES: u32 = 5;

/// A program with which this one has streams.
pub(super) struct Partner {
    /// The subject to which this program's beats go, and the one from which they come, which is for this partner alone.
    there: Subject,
    here: Subject,
    heard: Cell<bool>,
    misses: Cell<u32>,
    streams: RefCell<Vec<Weak<dyn Stream>>>,
}

impl Partner {
    /// Something has come from it.
    pub(super) fn heard(&self) {
        self.heard.set(true);
    }

    /// There is one more stream to it.
    pub(super) fn add(&self, stream: Weak<dyn Stream>) {
        self.streams.borrow_mut().push(stream);
    }

    /// All streams to it that are not over.
    pub(super) fn streams(&self) -> Vec<Rc<dyn Stream>> {
        let streams = &mut *self.streams.borrow_mut();
        streams.retain(|stream| stream.upgrade().is_some_and(|stream| !stream.is_over()));
        streams.iter().filter_map(Weak::upgrade).collect()
    }

    /// [`BEAT`] has passed; whether the program is lost.
    fn is_missed(&self) -> bool {
        let misses = if self.heard.take() { 0 } else { self.misses.get() + 1 };
        self.misses.set(misses);
        misses >= MISSES
    }
}

/// The partners of a session.
#[derive(Default)]
pub(super) struct Partners {
    /// By what their subjects begin with.
    known: RefCell<HashMap<String, Rc<Partner>>>,
    made: Cell<u64>,
}

impl Partners {
    /// The partner to which a subject belongs; `prefix` is what this program's subjects begin with.
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
            streams: RefCell::default(),
        });
        known.insert(theirs.to_string(), partner.clone());
        Some(partner)
    }

    /// Something has come from the program to which this subject belongs.
    pub(super) fn heard(&self, subject: &str) {
        let theirs = subject.rsplit_once('.').map_or("", |(theirs, _)| theirs);
        self.known.borrow().get(theirs).inspect(|partner| partner.heard());
    }

    /// The partner that is sent beats from this subject.
    pub(super) fn met_at(&self, here: &Subject) -> Option<Rc<Partner>> {
        self.known.borrow().values().find(|partner| partner.here == *here).cloned()
    }

    /// [`BEAT`] has passed: the beats that are to be sent, and the partners that are lost.
    pub(super) fn beat(&self) -> (Vec<OutboundMessage>, Vec<Rc<Partner>>) {
        let known = &mut *self.known.borrow_mut();
        known.retain(|_, partner| !partner.streams().is_empty());
        let alive = Envelope { kind: Kind::Alive, sent: 0, received: 0, bytes: &[] };
        let said = known.values().map(|partner| alive.to(&partner.there, &partner.here)).collect();
        (said, known.values().filter(|partner| partner.is_missed()).cloned().collect())
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.known.borrow().is_empty()
    }

    /// Forgets all.
    pub(super) fn clear(&self) {
        self.known.borrow_mut().clear();
    }
}

/// The last part of the subject at which a program gets beats.
pub(super) const ALIVE: &str = "alive";
