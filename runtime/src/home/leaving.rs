//! Clients that are to leave their communications to be bound anew; `communication::rebinding` sees to them.

use alloc::boxed::Box;
use alloc::rc::{Rc, Weak};
use core::ptr;

use crate::layout::{RequiredSlot, Worker};

/// Connects a slot, nothing of which is under way, to something else; or hears that the communication has ended before
/// its client could leave.
pub type Change = Box<dyn FnOnce(*mut Worker, Option<*mut RequiredSlot>)>;

/// A client that is to leave.
pub struct Leaving {
    /// Its slot.
    pub slot: *mut RequiredSlot,
    /// What becomes of it.
    pub change: Change,
    pending: Rc<()>,
}

/// Whoever wanted a client to leave knows it by this for as long as it has not.
#[derive(Clone, Default)]
pub struct Pending(Weak<()>);

impl Pending {
    /// Whether the client has neither left nor come to its end.
    pub fn waits(&self) -> bool {
        self.0.strong_count() > 0
    }
}

impl Leaving {
    /// The client at a slot, which hasn't left yet.
    pub fn new(slot: *mut RequiredSlot, change: Change) -> (Leaving, Pending) {
        let leaving = Leaving { slot, change, pending: Rc::new(()) };
        let pending = Pending(Rc::downgrade(&leaving.pending));
        (leaving, pending)
    }

    /// Whether it is the client that somebody wanted to leave.
    pub fn is_for(&self, pending: &Pending) -> bool {
        ptr::eq(Rc::as_ptr(&self.pending), pending.0.as_ptr())
    }
}
