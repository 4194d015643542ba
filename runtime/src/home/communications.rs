//! What the home knows about communications beside what is in their blocks: clients that are to be bound anew
//! (`communication::rebinding` sees to them), and a buffer's words that are put aside.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::rc::{Rc, Weak};
use alloc::vec::Vec;
use core::ptr;

use crate::layout::{Communication, RequiredSlot, Worker};

/// See the head of this file.
#[derive(Default)]
pub struct Communications {
    /// Clients that are to be bound anew, by their communications.
    pub leaving: BTreeMap<*mut Communication, Leaving>,
    /// What was in a buffer into which a message is put that nobody will receive.
    pub kept: Vec<u64>,
}

/// Connects a slot that has no communication to something else; or, without a slot, hears that the communication has
/// ended before its client could leave.
pub type Change = Box<dyn FnOnce(*mut Worker, Option<*mut RequiredSlot>)>;

/// A client that is to leave.
pub struct Leaving {
    /// Its slot.
    pub slot: *mut RequiredSlot,
    /// What becomes of it.
    pub change: Change,
    pending: Rc<()>,
}

/// Stands for a client that is to leave, as long as it has not.
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

    /// Whether this is the client that `pending` stands for.
    pub fn is_for(&self, pending: &Pending) -> bool {
        ptr::eq(Rc::as_ptr(&self.pending), pending.0.as_ptr())
    }
}
