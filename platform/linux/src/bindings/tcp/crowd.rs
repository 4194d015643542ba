//! All who have come in over TCP. What one of them can make this program hold is bounded by the protocol (`Limits`);
//! what all of them can, here: so it doesn't depend on how many there are. Where too much is held, who holds most is
//! let go, as Redis does with its clients: others don't notice.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

/// One who has come in.
pub(super) trait Guest {
    /// Bytes of memory that its connection takes.
    fn held(&self) -> usize;
    /// It takes too much: its connection ends, for this reason.
    fn evict(&self, why: &str);
}

/// Bytes that all connections may hold together: more than one alone can.
const MOST: usize = 512 << 20;

/// What is held is added up each time that so many bytes more may be.
const LOOK: usize = 4 << 20;

/// Who is let go learns this.
const WHY: &str = "too much waits over all connections, and most of it over this one";

/// See the head of this file.
#[derive(Default)]
pub(super) struct Crowd {
    guests: RefCell<Vec<Weak<dyn Guest>>>,
    /// Bytes that may be held since they were added up.
    more: Cell<usize>,
}

impl Crowd {
    /// One more has come in.
    pub(super) fn add(&self, guest: Weak<dyn Guest>) {
        let guests = &mut *self.guests.borrow_mut();
        if guests.len() == guests.capacity() {
            guests.retain(|guest| guest.strong_count() > 0);
            guests.reserve(guests.len());
        }
        guests.push(guest);
    }

    /// One of them may hold so many bytes more.
    pub(super) fn grow(&self, bytes: usize) {
        self.more.set(self.more.get() + bytes);
        if self.more.get() >= LOOK {
            self.more.set(0);
            self.look();
        }
    }

    /// Lets go of who holds most, as long as all hold too much.
    fn look(&self) {
        let guests: Vec<Rc<dyn Guest>> = self.guests.borrow().iter().filter_map(Weak::upgrade).collect();
        let mut held: Vec<_> = guests.iter().map(|guest| (guest.held(), guest)).collect();
        let mut all: usize = held.iter().map(|(bytes, _)| bytes).sum();
        if all <= MOST {
            return;
        }
        held.sort_unstable_by_key(|(bytes, _)| *bytes);
        while all > MOST
            && let Some((bytes, guest)) = held.pop()
        {
            guest.evict(WHY);
            all -= bytes;
        }
    }
}
