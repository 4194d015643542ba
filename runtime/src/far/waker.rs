//! Wakes the process that sees to something elsewhere.

use alloc::rc::Rc;
use core::cell::Cell;

use crate::instance::natives::wake_parked;
use crate::layout::{Process, Worker};

/// Wakes a process, such as a pump's or a listener's, if it waits. It stays on the home's thread, and does nothing when
/// the process has ended.
#[derive(Clone)]
pub struct Waker {
    target: Rc<Cell<Option<(*mut Worker, *mut Process)>>>,
    /// The program still runs.
    runs: Rc<Cell<bool>>,
}

impl Waker {
    /// `runs` says whether the program runs.
    ///
    /// # Safety
    /// At home; the process is alive until the waker forgets it, or all of the program has ended.
    pub(crate) unsafe fn new(worker: *mut Worker, process: *mut Process, runs: Rc<Cell<bool>>) -> Waker {
        Waker { target: Rc::new(Cell::new(Some((worker, process)))), runs }
    }

    /// It has something to look at.
    pub fn wake(&self) {
        if let Some((worker, process)) = self.target.get().filter(|_| self.runs.get()) {
            // SAFETY: at home, where it stays; the process is alive, for it isn't forgotten, and the program runs.
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
