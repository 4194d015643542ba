//! Signals of other threads, which end the program's wait.

use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError};

use mio::Waker;

/// The sources that were signalled.
pub(crate) struct Signals {
    done: Mutex<Vec<usize>>,
    pub(crate) waker: Arc<Waker>,
}

/// Lets another thread signal a source, once.
pub struct Signal {
    pub(crate) signals: Arc<Signals>,
    pub(crate) source: usize,
}

impl Signals {
    pub(crate) fn new(waker: Arc<Waker>) -> Signals {
        Signals { done: Mutex::default(), waker }
    }

    /// These sources, once.
    pub(crate) fn take(&self) -> Vec<usize> {
        take(&mut *self.done.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Signal {
    /// Wakes the source's readers, and runs its handler.
    pub fn done(self) {
        self.signals.done.lock().unwrap_or_else(PoisonError::into_inner).push(self.source);
        // If the eventfd can't be written it is full, and the wait ends anyway.
        let _ = self.signals.waker.wake();
    }
}
