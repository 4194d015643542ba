//! What may come from outside though no process waits for it at the platform.

use alloc::rc::Rc;
use core::cell::Cell;

/// How much that is: a platform counts it among what is [pending](drystone_runtime::platform::Platform::pending).
#[derive(Clone, Debug, Default)]
pub struct Expected(Rc<Cell<usize>>);

/// While it is there something may come: the program is not in a deadlock.
#[derive(Debug)]
pub struct Expectation(Expected);

impl Expected {
    /// How many expectations there are.
    pub fn count(&self) -> usize {
        self.0.get()
    }

    /// Something may come for as long as the result is kept.
    pub fn expect(&self) -> Expectation {
        self.0.set(self.0.get() + 1);
        Expectation(self.clone())
    }
}

impl Drop for Expectation {
    fn drop(&mut self) {
        let Expected(count) = &self.0;
        count.set(count.get() - 1);
    }
}
