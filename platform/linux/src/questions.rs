//! What is to be done with the program while none of its processes runs: what people want who look at it from outside,
//! and what it wants itself.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use drystone_runtime::layout::Worker;
use drystone_runtime::platform::Question;

use crate::reactor::Reactor;

/// The questions, in order.
pub(crate) struct Questions {
    reactor: Rc<Reactor>,
    waiting: RefCell<VecDeque<Question>>,
    may_come: Cell<bool>,
}

impl Questions {
    pub(crate) fn new(reactor: &Rc<Reactor>) -> Rc<Questions> {
        let (waiting, may_come) = Default::default();
        Rc::new(Questions { reactor: reactor.clone(), waiting, may_come })
    }

    /// Somebody may ask at any time.
    pub(crate) fn expect(&self) {
        self.may_come.set(true);
    }

    /// Whether somebody may.
    pub(crate) fn may_come(&self) -> bool {
        self.may_come.get()
    }

    /// Soon, on the home's thread with its worker. Until then the program is not in a deadlock.
    pub(crate) fn ask(&self, question: impl FnOnce(*mut Worker) + 'static) {
        let expected = self.reactor.expect();
        let question = move |worker| {
            drop(expected);
            question(worker);
        };
        self.waiting.borrow_mut().push_back(Box::new(question));
        // A reactor that has no eventfd any more wakes nobody, and the next tick will do.
        let _ = self.reactor.waker().wake();
    }

    /// The next one.
    pub(crate) fn next(&self) -> Option<Question> {
        self.waiting.borrow_mut().pop_front()
    }

    /// Nobody wants to know any more.
    pub(crate) fn clear(&self) {
        self.waiting.borrow_mut().clear();
    }
}
