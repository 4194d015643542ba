//! The counters of `Monitored` bindings, and the list in which they can be looked up.

use alloc::rc::{Rc, Weak};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

/// The traffic of a binding so far.
#[derive(Clone, Debug)]
pub struct Monitor {
    /// The name that the binding leads to.
    pub name: String,
    /// The interface.
    pub interface: &'static str,
    /// Communications that have begun, and those that are open.
    pub begun: u64,
    /// See `begun`.
    pub open: u64,
    /// Communications that were lost.
    pub lost: u64,
    /// For each message of the interface its name and how many there were.
    pub messages: Vec<(&'static str, u64)>,
    /// How often the time from a message to the next one back was less than 2 to the power of the index, in
    /// nanoseconds, and not less than half of that.
    pub times: [u64; 64],
}

/// The monitors of all live bindings.
#[derive(Default)]
pub struct Monitors(RefCell<Vec<Weak<RefCell<Monitor>>>>);

impl Monitors {
    /// A copy of each monitor.
    pub fn now(&self) -> Vec<Monitor> {
        self.0.borrow().iter().filter_map(Weak::upgrade).map(|monitor| monitor.borrow().clone()).collect()
    }

    pub(super) fn add(&self, monitor: &Rc<RefCell<Monitor>>) {
        let mut all = self.0.borrow_mut();
        all.retain(|monitor| monitor.strong_count() > 0);
        all.push(Rc::downgrade(monitor));
    }
}
