//! Code that runs at arrival: on the home's thread, when a source is ready or a time has come, before any process does.
//! What bindings receive goes to those for whom it is in this way, without a process that would read it.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::Instant;

use super::Reactor;

/// See the head of this file. It wakes whom it wants to go on.
pub(crate) trait Handler {
    /// Its source has something to read or room to write, or its time has come; or neither, now and then.
    fn ready(&self);
}

/// What handlers wait for.
#[derive(Default)]
pub(super) struct Times {
    handlers: BTreeMap<(Instant, u64), Rc<dyn Handler>>,
    /// Those that needn't wait for it while nothing else is to be done.
    early: VecDeque<Time>,
    made: u64,
}

impl Times {
    pub(super) fn first(&self) -> Option<Instant> {
        self.handlers.first_key_value().map(|((time, _), _)| *time)
    }

    /// Those whose time has come.
    fn due(&mut self, now: Instant) -> Vec<Rc<dyn Handler>> {
        let later = self.handlers.split_off(&(now, u64::MAX));
        std::mem::replace(&mut self.handlers, later).into_values().collect()
    }

    /// Whether there is something to do while there is nothing else.
    pub(super) fn has_early(&self) -> bool {
        !self.early.is_empty()
    }

    fn take_early(&mut self) -> Option<Rc<dyn Handler>> {
        let Time(time, number) = self.early.pop_front()?;
        self.handlers.remove(&(time, number))
    }
}

/// A time that a handler waits for.
#[derive(Clone, Copy)]
pub(crate) struct Time(Instant, u64);

/// While it is there something may come from outside: the program is not in a deadlock.
pub(crate) struct Expectation(Rc<Cell<usize>>);

impl Drop for Expectation {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl Reactor {
    /// From now on the handler runs when the source has something to read or room to write. The source keeps it until it is removed.
    pub(crate) fn handle(&self, source: usize, handler: Rc<dyn Handler>) {
        self.state.borrow_mut().sources[source].handler = Some(handler);
    }

    /// The source's handler runs no more, and isn't kept.
    pub(crate) fn unhandle(&self, source: usize) {
        let handler = self.state.borrow_mut().sources[source].handler.take();
        // It may remove the source.
        drop(handler);
    }

    /// The handler runs at that time, unless it is [`cancel`](Self::cancel)led.
    pub(crate) fn at(&self, time: Instant, handler: Rc<dyn Handler>) -> Time {
        let times = &mut self.state.borrow_mut().times;
        times.made += 1;
        times.handlers.insert((time, times.made), handler);
        Time(time, times.made)
    }

    /// The handler runs at that time, or sooner if nothing else is to be done.
    pub(crate) fn at_the_latest(&self, time: Instant, handler: Rc<dyn Handler>) {
        let time = self.at(time, handler);
        let Times { handlers, early, .. } = &mut self.state.borrow_mut().times;
        early.retain(|Time(time, number)| handlers.contains_key(&(*time, *number)));
        early.push_back(time);
    }

    /// A handler doesn't wait for its time any more.
    pub(crate) fn cancel(&self, Time(time, number): Time) {
        self.state.borrow_mut().times.handlers.remove(&(time, number));
    }

    /// Something may come from outside, for as long as the result is kept.
    pub(crate) fn expect(&self) -> Expectation {
        self.expected.set(self.expected.get() + 1);
        Expectation(self.expected.clone())
    }

    /// Runs the source's handler, if it has one; whether it has.
    pub(super) fn run_handler(&self, source: usize) -> bool {
        let handler = self.state.borrow().sources[source].handler.clone();
        handler.as_ref().inspect(|handler| handler.ready()).is_some()
    }

    /// Runs the handlers whose time has come; whether there were any.
    pub(super) fn run_due(&self) -> bool {
        if self.state.borrow().times.handlers.is_empty() {
            return false;
        }
        let due = self.state.borrow_mut().times.due(Instant::now());
        due.iter().for_each(|handler| handler.ready());
        !due.is_empty()
    }

    /// Runs one of those that needn't wait for their times; whether there was one.
    pub(super) fn run_early(&self) -> bool {
        let early = self.state.borrow_mut().times.take_early();
        early.inspect(|handler| handler.ready()).is_some()
    }
}
