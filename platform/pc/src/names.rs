//! Names: the contexts and factories that need no network, and time for them.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::rc::Rc;
use core::any::Any;
use core::cell::{Cell, RefCell};

use drystone_kortex::Addition;
use drystone_kortex::bindings::Bindings;
use drystone_kortex::composed::{self, Services};
use drystone_runtime::far::Waker;

use crate::clock;

/// All that this platform knows.
pub(crate) fn all(additions: &'static [&'static Addition], times: &Rc<Times>) -> Bindings {
    let mut bindings = Bindings::new(Services {
        time: Rc::new(Time(times.clone())),
        monitors: Rc::default(),
        added: additions.iter().flat_map(|addition| addition.factories).collect(),
    });
    for context in additions.iter().flat_map(|addition| addition.contexts) {
        bindings.add_context(context.scheme, (context.begin)());
    }
    bindings
}

/// Times for which somebody waits.
#[derive(Default)]
pub(crate) struct Times {
    /// By time, then in the order in which they were asked for.
    waiting: RefCell<BTreeMap<(u64, u64), Waker>>,
    count: Cell<u64>,
}

impl Times {
    /// The first.
    pub(crate) fn first(&self) -> Option<u64> {
        self.waiting.borrow().first_key_value().map(|((time, _), _)| *time)
    }

    /// How many.
    pub(crate) fn len(&self) -> usize {
        self.waiting.borrow().len()
    }

    /// Wakes those whose time has come; whether there were any.
    pub(crate) fn wake(&self) -> bool {
        let mut any = false;
        while self.first().is_some_and(|time| time <= clock::now()) {
            let first = self.waiting.borrow_mut().pop_first();
            if let Some((_, waker)) = first {
                waker.wake();
                any = true;
            }
        }
        any
    }
}

struct Time(Rc<Times>);

impl composed::Time for Time {
    fn now(&self) -> u64 {
        clock::now()
    }

    fn wake_at(&self, time: u64, waker: Waker) -> Box<dyn Any> {
        let number = self.0.count.get();
        self.0.count.set(number + 1);
        self.0.waiting.borrow_mut().insert((time, number), waker);
        Box::new(Timer { times: self.0.clone(), key: (time, number) })
    }
}

/// A time that someone waits for, until this is dropped.
struct Timer {
    times: Rc<Times>,
    key: (u64, u64),
}

impl Drop for Timer {
    fn drop(&mut self) {
        let waker = self.times.waiting.borrow_mut().remove(&self.key);
        drop(waker);
    }
}
