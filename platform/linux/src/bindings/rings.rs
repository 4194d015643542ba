//! The channels that the home thread serves, beside what its epoll watches.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::channel::End;
use super::patience::Patience;

/// A channel that the home thread serves.
pub(crate) trait Served {
    /// This side of it; not borrowed while others run.
    fn end(&self) -> &RefCell<End>;

    /// Whether there is anything to be sent.
    fn has_mail(&self) -> bool;

    /// Takes what has come, and sends what there is.
    fn serve(&self);

    /// Nobody on this side wants it any more: tells the other side, and isn't served from now on.
    fn abandon(&self);
}

/// All of them.
pub(crate) struct Rings {
    all: RefCell<Vec<Rc<dyn Served>>>,
    patience: RefCell<Patience>,
    /// Since when the home sleeps.
    asleep: Cell<Option<Instant>>,
    /// How often in a row only rings were looked at.
    turns: Cell<u32>,
}

/// After so many looks at rings only, the epoll has its turn.
const TURNS: u32 = 16;

impl Rings {
    pub(crate) fn new() -> Rings {
        let (all, patience) = (RefCell::default(), RefCell::new(Patience::new()));
        Rings { all, patience, asleep: Cell::new(None), turns: Cell::new(0) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.borrow().is_empty()
    }

    pub(crate) fn add(&self, served: Rc<dyn Served>) {
        self.all.borrow_mut().push(served);
    }

    pub(crate) fn remove(&self, served: &dyn Served) {
        let end: *const _ = served.end();
        self.all.borrow_mut().retain(|other| !std::ptr::eq(other.end(), end));
    }

    /// The program has ended: nobody wants any of them.
    pub(crate) fn abandon(&self) {
        let all = self.all.borrow().clone();
        all.iter().for_each(|served| served.abandon());
    }

    /// Serves those that have something to take or to send; whether there were any.
    pub(crate) fn serve(&self) -> bool {
        let mut served = false;
        for index in 0.. {
            // Serving may add and remove some.
            let Some(line) = self.all.borrow().get(index).cloned() else { break };
            if line.has_mail() || line.end().borrow().has_news() {
                line.serve();
                served = true;
            }
        }
        served
    }

    /// Some process may be able to go on because of a ring: whether the epoll may be left alone for once.
    pub(crate) fn have_priority(&self) -> bool {
        if self.is_empty() || self.turns.get() >= TURNS {
            self.turns.set(0);
            return false;
        }
        self.turns.set(self.turns.get() + 1);
        true
    }

    /// Looks for news as long as that is worth it, then says to all of them that the home goes to sleep in its epoll.
    /// `false`: some ring has news, so it doesn't.
    pub(crate) fn lie_down(&self, limit: Option<Duration>) -> bool {
        if self.patience.borrow_mut().look(limit, || self.has_news()) {
            return false;
        }
        self.for_each(End::lie_down);
        if self.has_news() {
            self.for_each(End::get_up);
            return false;
        }
        self.asleep.set(Some(Instant::now()));
        true
    }

    /// The home is awake.
    pub(crate) fn get_up(&self) {
        self.for_each(End::get_up);
        if let Some(start) = self.asleep.take()
            && self.has_news()
        {
            self.patience.borrow_mut().slept(start.elapsed());
        }
    }

    fn has_news(&self) -> bool {
        self.all.borrow().iter().any(|served| served.end().borrow().has_news())
    }

    fn for_each(&self, mut what: impl FnMut(&End)) {
        self.all.borrow().iter().for_each(|served| what(&served.end().borrow()));
    }
}
