//! Code that runs at arrival: on the home's thread, when a source is ready or a time has come, before any process does.
//! What bindings receive goes to those for whom it is in this way, without a process that would read it.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

use drystone_kortex::{Expectation, Expected};

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
    /// The one that needn't be waited for while nothing else is to be done.
    early: Option<Time>,
    made: u64,
}

impl Times {
    pub(super) fn first(&self) -> Option<Instant> {
        self.handlers.first_key_value().map(|((time, _), _)| *time)
    }

    /// Those whose time has come.
    fn due(&mut self, now: Instant) -> Vec<Rc<dyn Handler>> {
        let later = self.handlers.split_off(&(now, u64::MAX));
        self.early.take_if(|Time(time, _)| *time <= now);
        std::mem::replace(&mut self.handlers, later).into_values().collect()
    }

    /// Whether there is something to do while there is nothing else.
    pub(super) fn has_early(&self) -> bool {
        self.early.is_some()
    }

    fn take_early(&mut self) -> Option<Rc<dyn Handler>> {
        let Time(time, number) = self.early.take()?;
        self.handlers.remove(&(time, number))
    }
}

/// A time that a handler waits for.
#[derive(Clone, Copy)]
pub(crate) struct Time(Instant, u64);

impl Reactor {
    /// From now on the handler runs when the source has something to read or room to write. The source keeps it until
    /// it is removed.
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

    /// The handler runs at that time, or sooner if nothing else is to be done: one handler at once waits so.
    pub(crate) fn at_the_latest(&self, time: Instant, handler: Rc<dyn Handler>) {
        let time = self.at(time, handler);
        self.state.borrow_mut().times.early = Some(time);
    }

    /// A handler doesn't wait for its time any more.
    pub(crate) fn cancel(&self, Time(time, number): Time) {
        self.state.borrow_mut().times.handlers.remove(&(time, number));
    }

    /// What may come from outside.
    pub(crate) fn expected(&self) -> &Expected {
        &self.expected
    }

    /// Something may come from outside, for as long as the result is kept.
    pub(crate) fn expect(&self) -> Expectation {
        self.expected.expect()
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

    /// Runs the one that needn't wait for its time; whether there was one.
    pub(super) fn run_early(&self) -> bool {
        let early = self.state.borrow_mut().times.take_early();
        early.inspect(|handler| handler.ready()).is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use super::*;

    struct Counts(Cell<usize>);

    impl Handler for Counts {
        fn ready(&self) {
            self.0.set(self.0.get() + 1);
        }
    }

    #[test]
    fn who_waits_at_the_latest_runs_once_either_early_or_in_time() {
        let reactor = Reactor::new().expect("there is epoll");
        let counts = Rc::new(Counts(Cell::new(0)));
        let (now, hour) = (Instant::now(), Duration::from_secs(3600));
        reactor.at_the_latest(now + hour, counts.clone());
        assert!(!reactor.run_due());
        assert!(reactor.run_early());
        assert_eq!(counts.0.get(), 1);
        assert!(!reactor.run_early() && !reactor.run_due());
        reactor.at_the_latest(now, counts.clone());
        assert!(reactor.run_due());
        assert!(!reactor.run_early());
        assert_eq!(counts.0.get(), 2);
    }
}
