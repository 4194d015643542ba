//! A request that a client of this program has made of a server elsewhere, until its reply has come.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

use drystone_runtime::far::Waker;

/// See the head of this file.
pub struct Slot {
    /// The number that the reply has too.
    pub id: u32,
    pump: Waker,
    reply: RefCell<Option<Result<Vec<u8>, String>>>,
}

impl Slot {
    /// A request with this number; the waker is for who waits for the reply.
    pub fn new(id: u32, pump: Waker) -> Rc<Slot> {
        Rc::new(Slot { id, pump, reply: RefCell::default() })
    }

    /// The reply has come, or it is certain that none will.
    pub fn done(&self, reply: Result<Vec<u8>, String>) {
        *self.reply.borrow_mut() = Some(reply);
        self.pump.wake();
    }

    /// The reply, once.
    pub fn reply(&self) -> Option<Result<Vec<u8>, String>> {
        self.reply.borrow_mut().take()
    }
}

/// A number to begin with that others hardly have.
pub fn first_id() -> u32 {
    RandomState::new().hash_one(0) as u32
}
