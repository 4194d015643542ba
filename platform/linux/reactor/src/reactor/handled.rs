//! Handlers of sources and of times.

use std::rc::Rc;
use std::time::Instant;

use drystone_kortex::{Expectation, Expected};

use super::Reactor;
use crate::handler::{Handler, Time};

impl Reactor {
    /// From now on the handler runs when the source has something to read or room to write. The source keeps it until
    /// it is removed.
    pub fn handle(&self, source: usize, handler: Rc<dyn Handler>) {
        self.state.borrow_mut().sources[source].handler = Some(handler);
    }

    /// The source's handler runs no more, and isn't kept.
    pub fn unhandle(&self, source: usize) {
        let handler = self.state.borrow_mut().sources[source].handler.take();
        // Without the borrow: its end may remove the source.
        drop(handler);
    }

    /// The handler runs at that time, unless it is [`cancel`](Self::cancel)led.
    pub fn at(&self, time: Instant, handler: Rc<dyn Handler>) -> Time {
        let times = &mut self.state.borrow_mut().times;
        times.made += 1;
        times.handlers.insert((time, times.made), handler);
        Time(time, times.made)
    }

    /// The handler runs at that time, or sooner if there is nothing else to do. Only one handler at a time may wait so.
    pub fn at_the_latest(&self, time: Instant, handler: Rc<dyn Handler>) {
        let time = self.at(time, handler);
        self.state.borrow_mut().times.early = Some(time);
    }

    /// A handler doesn't run at its time.
    pub fn cancel(&self, Time(time, number): Time) {
        self.state.borrow_mut().times.handlers.remove(&(time, number));
    }

    /// The count of what may come from outside.
    pub fn expected(&self) -> &Expected {
        &self.expected
    }

    /// Something may come from outside, for as long as the result is kept.
    pub fn expect(&self) -> Expectation {
        self.expected.expect()
    }

    /// Runs the source's handler, if it has one; whether it has.
    pub(crate) fn run_handler(&self, source: usize) -> bool {
        let handler = self.state.borrow().sources[source].handler.clone();
        handler.as_ref().inspect(|handler| handler.ready()).is_some()
    }

    /// Runs the handlers whose time has come; whether there were any.
    pub(crate) fn run_due(&self) -> bool {
        if self.state.borrow().times.handlers.is_empty() {
            return false;
        }
        let due = self.state.borrow_mut().times.due(Instant::now());
        due.iter().for_each(|handler| handler.ready());
        !due.is_empty()
    }

    /// Runs the handler whose time may come sooner; whether there was one.
    pub(crate) fn run_early(&self) -> bool {
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
    fn a_handler_that_may_run_sooner_runs_once() {
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
