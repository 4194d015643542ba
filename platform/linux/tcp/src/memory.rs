//! Memory that the connections of other programs may take. The wire protocol bounds what one connection may hold
//! (`Limits`); here is a bound for all of them together, whatever their number. Where too much is held, the connections
//! that hold most are evicted, as in Redis; the rest don't notice.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

/// A connection that holds memory.
pub(super) trait Holder {
    /// Bytes that it holds.
    fn held(&self) -> usize;
    /// Ends it, for this reason.
    fn evict(&self, why: &str);
}

/// Most bytes that all connections hold together: more than one alone can.
const MOST: usize = 512 << 20;

/// What is held is added up each time that so many bytes more may be.
const STEP: usize = 4 << 20;

/// What an evicted program is told.
const WHY: &str = "too much waits over all connections, and most of it over this one";

/// See the head of this file.
#[derive(Default)]
pub(super) struct Memory {
    holders: RefCell<Vec<Weak<dyn Holder>>>,
    /// Bytes by which what is held may have grown since it was added up.
    growth: Cell<usize>,
}

impl Memory {
    /// There is one more connection.
    pub(super) fn add(&self, holder: Weak<dyn Holder>) {
        let holders = &mut *self.holders.borrow_mut();
        if holders.len() == holders.capacity() {
            holders.retain(|holder| holder.strong_count() > 0);
            holders.reserve(holders.len());
        }
        holders.push(holder);
    }

    /// A connection may hold so many bytes more.
    pub(super) fn grow(&self, bytes: usize) {
        self.growth.set(self.growth.get() + bytes);
        if self.growth.get() >= STEP {
            self.growth.set(0);
            self.evict();
        }
    }

    /// Evicts the connections that hold most, as long as all hold too much.
    fn evict(&self) {
        let holders: Vec<Rc<dyn Holder>> = self.holders.borrow().iter().filter_map(Weak::upgrade).collect();
        let mut held: Vec<_> = holders.iter().map(|holder| (holder.held(), holder)).collect();
        let mut all: usize = held.iter().map(|(bytes, _)| bytes).sum();
        if all <= MOST {
            return;
        }
        held.sort_unstable_by_key(|(bytes, _)| *bytes);
        while all > MOST
            && let Some((bytes, holder)) = held.pop()
        {
            holder.evict(WHY);
            all -= bytes;
        }
    }
}
