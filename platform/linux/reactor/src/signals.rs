//! What helper threads have done: they say so, which ends the program's wait.

use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError};

use mio::Waker;

/// Sources that helper threads are done with.
pub(crate) struct Signals {
    done: Mutex<Vec<usize>>,
    pub(crate) waker: Arc<Waker>,
}

/// By this a helper thread says that the source's readers may go on.
pub struct Signal {
    pub(crate) signals: Arc<Signals>,
    pub(crate) source: usize,
}

impl Signals {
    pub(crate) fn new(waker: Arc<Waker>) -> Signals {
        Signals { done: Mutex::default(), waker }
    }

    /// Those sources, once.
    pub(crate) fn take(&self) -> Vec<usize> {
        take(&mut *self.done.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Signal {
    /// Wakes the readers.
    pub fn done(self) {
        self.signals.done.lock().unwrap_or_else(PoisonError::into_inner).push(self.source);
        // If it cannot be written it is full, and the wait ends anyway.
        let _ = self.signals.waker.wake();
    }
}
