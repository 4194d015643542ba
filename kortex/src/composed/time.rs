//! The clock and timers that composed bindings need, and a timer queue for platforms without one.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::rc::{Rc, Weak};
use core::any::Any;
use core::cell::{Cell, RefCell};

use drystone_runtime::far::Waker;

/// A platform's clock and timers.
pub trait Time {
    /// Nanoseconds since a fixed moment in the past.
    fn now(&self) -> u64;

    /// Wakes a waker at a time in nanoseconds. Dropping the result cancels the timer.
    fn wake_at(&self, time: u64, waker: Waker) -> Box<dyn Any>;
}

/// A timer queue for platforms without one.
pub struct Times {
    me: Weak<Times>,
    now: fn() -> u64,
    /// By time, then in the order of the requests.
    waiting: RefCell<BTreeMap<(u64, u64), Waker>>,
    count: Cell<u64>,
}

impl Times {
    /// An empty queue, with a clock.
    pub fn new(now: fn() -> u64) -> Rc<Times> {
        let (waiting, count) = Default::default();
        Rc::new_cyclic(|me| Times { me: me.clone(), now, waiting, count })
    }

    /// The earliest time in the queue.
    pub fn first(&self) -> Option<u64> {
        self.waiting.borrow().first_key_value().map(|((time, _), _)| *time)
    }

    /// The number of timers.
    pub fn len(&self) -> usize {
        self.waiting.borrow().len()
    }

    /// Whether there are no timers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Wakes all wakers whose time has come. Returns whether there were any.
    pub fn wake(&self) -> bool {
        let mut any = false;
        while self.first().is_some_and(|time| time <= (self.now)()) {
            let first = self.waiting.borrow_mut().pop_first();
            if let Some((_, waker)) = first {
                waker.wake();
                any = true;
            }
        }
        any
    }
}

impl Time for Times {
    fn now(&self) -> u64 {
        (self.now)()
    }

    fn wake_at(&self, time: u64, waker: Waker) -> Box<dyn Any> {
        let number = self.count.get();
        self.count.set(number + 1);
        self.waiting.borrow_mut().insert((time, number), waker);
        Box::new(Timer { times: self.me.clone(), key: (time, number) })
    }
}

/// An entry of the queue, until this is dropped.
struct Timer {
    times: Weak<Times>,
    key: (u64, u64),
}

impl Drop for Timer {
    fn drop(&mut self) {
        let waker = self.times.upgrade().and_then(|times| times.waiting.borrow_mut().remove(&self.key));
        drop(waker);
    }
}
