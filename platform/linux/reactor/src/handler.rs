//! Code that runs at arrival: on the home's thread, when a source is ready or a time has come, before any process does.
//! What bindings receive goes to those for whom it is in this way, without a process that would read it.

use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::time::Instant;

/// See the head of this file. It wakes whom it wants to go on.
pub trait Handler {
    /// Its source has something to read or room to write, or its time has come; or neither, now and then.
    fn ready(&self);
}

/// A handler that does something with what others keep, for as long as they do.
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

/// What handlers wait for.
#[derive(Default)]
pub(crate) struct Times {
    pub(crate) handlers: BTreeMap<(Instant, u64), Rc<dyn Handler>>,
    /// The one that needn't be waited for while nothing else is to be done.
    pub(crate) early: Option<Time>,
    pub(crate) made: u64,
}

impl Times {
    pub(crate) fn first(&self) -> Option<Instant> {
        self.handlers.first_key_value().map(|((time, _), _)| *time)
    }

    /// Those whose time has come.
    pub(crate) fn due(&mut self, now: Instant) -> Vec<Rc<dyn Handler>> {
        let later = self.handlers.split_off(&(now, u64::MAX));
        self.early.take_if(|Time(time, _)| *time <= now);
        std::mem::replace(&mut self.handlers, later).into_values().collect()
    }

    /// Whether there is something to do while there is nothing else.
    pub(crate) fn has_early(&self) -> bool {
        self.early.is_some()
    }

    pub(crate) fn take_early(&mut self) -> Option<Rc<dyn Handler>> {
        let Time(time, number) = self.early.take()?;
        self.handlers.remove(&(time, number))
    }
}

/// A time that a handler waits for.
#[derive(Clone, Copy)]
pub struct Time(pub(crate) Instant, pub(crate) u64);
