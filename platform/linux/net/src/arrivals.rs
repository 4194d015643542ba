//! New communications with an exported name, until the program accepts them.

use std::cell::RefCell;
use std::collections::VecDeque;

use drystone_runtime::far::Waker;

/// See the head of this file.
pub struct Arrivals<T> {
    come: RefCell<VecDeque<T>>,
    listener: RefCell<Option<Waker>>,
}

impl<T> Arrivals<T> {
    /// The listener is woken when a communication begins.
    pub fn attach(&self, listener: Waker) {
        *self.listener.borrow_mut() = Some(listener);
    }

    /// The next communication, in order of arrival.
    pub fn accept(&self) -> Option<T> {
        self.come.borrow_mut().pop_front()
    }

    /// A communication begins.
    pub fn bring(&self, far: T) {
        self.come.borrow_mut().push_back(far);
        let listener = self.listener.borrow().clone();
        if let Some(listener) = listener {
            listener.wake();
        }
    }
}

impl<T> Default for Arrivals<T> {
    fn default() -> Arrivals<T> {
        Arrivals { come: RefCell::default(), listener: RefCell::default() }
    }
}
