//! The channels that a home serves.

use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use super::channel::End;

/// A channel that the home serves.
pub trait Served {
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
#[derive(Default)]
pub struct Rings {
    all: RefCell<Vec<Rc<dyn Served>>>,
    /// How often in a row only rings were looked at.
    turns: Cell<u32>,
}

/// After so many looks at rings only, what else there is has its turn.
const TURNS: u32 = 16;

impl Rings {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.borrow().is_empty()
    }

    /// One more.
    pub fn add(&self, served: Rc<dyn Served>) {
        self.all.borrow_mut().push(served);
    }

    /// It isn't served any more.
    pub fn remove(&self, served: &dyn Served) {
        let end: *const _ = served.end();
        self.all.borrow_mut().retain(|other| !core::ptr::eq(other.end(), end));
    }

    /// The program has ended: nobody wants any of them.
    pub fn abandon(&self) {
        let all = self.all.borrow().clone();
        all.iter().for_each(|served| served.abandon());
    }

    /// Serves those that have something to take or to send; whether there were any. The other sides of the rest are
    /// told what was sent before.
    pub fn serve(&self) -> bool {
        let mut served = false;
        for index in 0.. {
            // Serving may add and remove some.
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

    /// Some process may be able to go on because of a ring: whether all else may be left alone for once.
    pub fn have_priority(&self) -> bool {
        if self.is_empty() || self.turns.get() >= TURNS {
            self.turns.set(0);
            return false;
        }
        self.turns.set(self.turns.get() + 1);
        true
    }

    /// Whether another side has done something that this one hasn't seen.
    pub fn have_news(&self) -> bool {
        self.all.borrow().iter().any(|served| served.end().borrow().has_news())
    }

    /// Says to all of them that the home goes to sleep. `false`: some ring has news, so it doesn't.
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
