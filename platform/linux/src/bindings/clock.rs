//! The clock of bindings and composite calls, and the timers of composed bindings.

use std::any::Any;
use std::rc::Rc;
use std::time::{Duration, Instant};

use drystone_kortex::composed;
use drystone_runtime::far::Waker;

use drystone_reactor::{Expectation, Handler, Reactor, Time};

/// Counts nanoseconds from when it was made.
pub(crate) struct Clock {
    start: Instant,
    reactor: Rc<Reactor>,
}

impl Clock {
    pub(crate) fn new(reactor: Rc<Reactor>) -> Clock {
        Clock { start: Instant::now(), reactor }
    }

    /// What the reactor calls a time of this clock.
    pub(crate) fn instant(&self, time: u64) -> Instant {
        self.start + Duration::from_nanos(time)
    }
}

impl composed::Time for Clock {
    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    fn wake_at(&self, time: u64, waker: Waker) -> Box<dyn Any> {
        let time = self.reactor.at(self.instant(time), Rc::new(Alarm(waker)));
        let expectation = self.reactor.expect();
        Box::new(Timer { reactor: self.reactor.clone(), time, _expectation: expectation })
    }
}

struct Alarm(Waker);

impl Handler for Alarm {
    fn ready(&self) {
        self.0.wake();
    }
}

/// A timer, until this is dropped.
struct Timer {
    reactor: Rc<Reactor>,
    time: Time,
    _expectation: Expectation,
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.reactor.cancel(self.time);
    }
}
