//! The channels that a home serves.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use super::channel::End;

/// A channel that the home serves.
pub trait Served {
    /// This side's end. It isn't borrowed while other code runs.
    fn end(&self) -> &RefCell<End>;

    /// Whether there is anything to send.
    fn has_mail(&self) -> bool;

    /// Reads what has arrived, and sends what it can.
    fn serve(&self);

    /// Nothing on this side wants the channel any more: tells the other side, and stops serving it.
    fn abandon(&self);
}

/// All channels of a home.
#[derive(Default)]
pub struct Rings {
    all: RefCell<Vec<Rc<dyn Served>>>,
    /// How often in a row only rings were looked at.
    turns: Cell<u32>,
}

/// After so many looks at the rings alone, other events have their turn.
const TURNS: u32 = 16;

impl Rings {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.borrow().is_empty()
    }

    /// Adds a channel.
    pub fn add(&self, served: Rc<dyn Served>) {
        self.all.borrow_mut().push(served);
    }

    /// Removes a channel, which isn't served any more.
    pub fn remove(&self, served: &dyn Served) {
        let end: *const _ = served.end();
        self.all.borrow_mut().retain(|other| !core::ptr::eq(other.end(), end));
    }

    /// Abandons all channels: the program has ended.
    pub fn abandon(&self) {
        let all = self.all.borrow().clone();
        all.iter().for_each(|served| served.abandon());
    }

    /// Serves all channels with something to read or to send. Returns whether there were any. Other sides are told what
    /// was sent before.
    pub fn serve(&self) -> bool {
        let mut served = false;
        for index in 0.. {
            // Serving a channel may add and remove some.
            let Some(line) = self.all.borrow().get(index).cloned() else { break };
            if line.has_mail() || line.end().borrow().has_news() {
                line.serve();
                served = true;
            } else if line.end().borrow().has_to_tell() {
                line.end().borrow_mut().tell();
            }
        }
        served
    }

    /// A ring may let a process go on. Returns whether other events may be left alone this time.
    pub fn have_priority(&self) -> bool {
        if self.is_empty() || self.turns.get() >= TURNS {
            self.turns.set(0);
            return false;
        }
        self.turns.set(self.turns.get() + 1);
        true
    }

    /// Whether any other side has news for this one.
    pub fn have_news(&self) -> bool {
        self.all.borrow().iter().any(|served| served.end().borrow().has_news())
    }

    /// Tells all other sides that the home goes to sleep. `false`: a ring has news, and the home stays awake.
    pub fn lie_down(&self) -> bool {
        self.for_each(End::lie_down);
        let lies = !self.have_news();
        if !lies {
            self.get_up();
        }
        lies
    }

    /// The home is awake.
    pub fn get_up(&self) {
        self.for_each(End::get_up);
    }

    fn for_each(&self, what: impl Fn(&End)) {
        self.all.borrow().iter().for_each(|served| what(&served.end().borrow()));
    }
}
