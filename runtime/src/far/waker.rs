//! How something elsewhere tells the process that sees to it that there is something to do.

use alloc::rc::Rc;
use core::cell::Cell;

use crate::instance::natives::wake_parked;
use crate::layout::{Process, Worker};

/// Wakes a pump or a listener, if that waits. It belongs to the home's thread, and does nothing when its process has
/// ended.
#[derive(Clone)]
pub struct Waker {
    target: Rc<Cell<Option<(*mut Worker, *mut Process)>>>,
    /// The program still runs.
    runs: Rc<Cell<bool>>,
}

impl Waker {
    /// On the home's thread, with its worker, and what says whether the program runs.
    pub(crate) fn new(worker: *mut Worker, process: *mut Process, runs: Rc<Cell<bool>>) -> Waker {
        Waker { target: Rc::new(Cell::new(Some((worker, process)))), runs }
    }

    /// It has something to look at.
    pub fn wake(&self) {
        if let Some((worker, process)) = self.target.get().filter(|_| self.runs.get()) {
            // SAFETY: whose it is forgets it before its process ends, and the home says when all of them have ended; it
            // can't leave the home's thread.
            unsafe { wake_parked(worker, process) }
        }
    }

    /// Whether it wakes this process.
    pub(crate) fn is_for(&self, process: *mut Process) -> bool {
        self.target.get().is_some_and(|(_, p)| p == process)
    }

    /// Its process ends.
    pub(crate) fn forget(&self) {
        self.target.set(None);
    }
}
