//! Counts what may arrive from outside although no process waits for it at the platform.

use alloc::rc::Rc;
use core::cell::Cell;

/// The count. A platform adds it to what is [pending](drystone_runtime::platform::Platform::pending).
#[derive(Clone, Debug, Default)]
pub struct Expected(Rc<Cell<usize>>);

/// As long as this exists, something may arrive, and the program isn't in a deadlock.
#[derive(Debug)]
pub struct Expectation(Expected);

impl Expected {
    /// The number of expectations.
    pub fn count(&self) -> usize {
        self.0.get()
    }

    /// Something may arrive as long as the result is kept.
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
