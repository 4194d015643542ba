//! Event handlers: code that runs on the home's thread when a source is ready or a time has come, before any process
//! does. Bindings receive by them, without a process that would read.

use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::time::Instant;

/// See the head of this file. It wakes the processes that can go on.
pub trait Handler {
    /// The source may have something to read or room to write, or the time has come. It may also be called for nothing.
    fn ready(&self);
}

/// A handler that acts on a target, but doesn't keep it.
pub fn weakly<T: 'static>(target: &Weak<T>, act: fn(&Rc<T>)) -> Rc<dyn Handler> {
    Rc::new(Weakly(target.clone(), act))
}

struct Weakly<T>(Weak<T>, fn(&Rc<T>));

impl<T> Handler for Weakly<T> {
    fn ready(&self) {
        if let Some(target) = self.0.upgrade() {
            self.1(&target);
        }
    }
}

/// The timer queue of handlers.
#[derive(Default)]
pub(crate) struct Times {
    pub(crate) handlers: BTreeMap<(Instant, u64), Rc<dyn Handler>>,
    /// The time that may come sooner, when there is nothing else to do.
    pub(crate) early: Option<Time>,
    pub(crate) made: u64,
}

impl Times {
    pub(crate) fn first(&self) -> Option<Instant> {
        self.handlers.first_key_value().map(|((time, _), _)| *time)
    }

    /// Removes the handlers whose time has come.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<Rc<dyn Handler>> {
        let later = self.handlers.split_off(&(now, u64::MAX));
        self.early.take_if(|Time(time, _)| *time <= now);
        std::mem::replace(&mut self.handlers, later).into_values().collect()
    }

    /// Whether a handler's time may come sooner.
    pub(crate) fn has_early(&self) -> bool {
        self.early.is_some()
    }

    /// Removes the handler whose time may come sooner.
    pub(crate) fn take_early(&mut self) -> Option<Rc<dyn Handler>> {
        let Time(time, number) = self.early.take()?;
        self.handlers.remove(&(time, number))
    }
}

/// A time for which a handler waits, to be cancelled by.
#[derive(Clone, Copy)]
pub struct Time(pub(crate) Instant, pub(crate) u64);
