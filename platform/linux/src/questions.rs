//! Questions to the running program, which are answered while none of its processes runs. They come from outside
//! (inspection) and from the program itself.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use drystone_runtime::layout::Worker;
use drystone_runtime::platform::Question;

use drystone_reactor::Reactor;

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

    /// From now on, questions may come at any time.
    pub(crate) fn expect(&self) {
        self.may_come.set(true);
    }

    /// Whether questions may come.
    pub(crate) fn may_come(&self) -> bool {
        self.may_come.get()
    }

    /// Calls the question soon, on the home's thread with its worker. Until then the program is not in a deadlock.
    pub(crate) fn ask(&self, question: impl FnOnce(*mut Worker) + 'static) {
        let expected = self.reactor.expect();
        let question = move |worker| {
            drop(expected);
            question(worker);
        };
        self.waiting.borrow_mut().push_back(Box::new(question));
        // If the reactor has no eventfd any more, the next tick will do.
        let _ = self.reactor.waker().wake();
    }

    /// The next question.
    pub(crate) fn next(&self) -> Option<Question> {
        self.waiting.borrow_mut().pop_front()
    }

    /// Drops all questions.
    pub(crate) fn clear(&self) {
        self.waiting.borrow_mut().clear();
    }
}
