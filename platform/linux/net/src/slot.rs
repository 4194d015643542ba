//! A request of a client of this program to a server elsewhere, until its reply has come.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::rc::Rc;

use drystone_runtime::far::Waker;

/// See the head of this file.
pub struct Slot {
    /// The number that request and reply share.
    pub id: u32,
    pump: Waker,
    reply: RefCell<Option<Result<Vec<u8>, String>>>,
}

impl Slot {
    /// A request with this number; the pump is woken when it is [done](Self::done).
    pub fn new(id: u32, pump: Waker) -> Rc<Slot> {
        Rc::new(Slot { id, pump, reply: RefCell::default() })
    }

    /// The reply has come, or an error says why none will.
    pub fn done(&self, reply: Result<Vec<u8>, String>) {
        *self.reply.borrow_mut() = Some(reply);
        self.pump.wake();
    }

    /// The reply, once.
    pub fn reply(&self) -> Option<Result<Vec<u8>, String>> {
        self.reply.borrow_mut().take()
    }
}

/// A random number to count requests from, so that programs hardly use the same ones.
pub fn first_id() -> u32 {
    RandomState::new().hash_one(0) as u32
}
