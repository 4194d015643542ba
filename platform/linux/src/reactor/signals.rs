//! What helper threads have done: they say so, which ends the program's wait.

use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError};

use mio::Waker;

use super::Reactor;

/// Sources that helper threads are done with.
pub(super) struct Signals {
    done: Mutex<Vec<usize>>,
    waker: Arc<Waker>,
}

/// By this a helper thread says that the source's readers may go on.
pub(crate) struct Signal {
    signals: Arc<Signals>,
    source: usize,
}

impl Signals {
    pub(super) fn new(waker: Arc<Waker>) -> Signals {
        Signals { done: Mutex::default(), waker }
    }

    /// Those sources, once.
    pub(super) fn take(&self) -> Vec<usize> {
        take(&mut *self.done.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Signal {
    /// Wakes the readers.
    pub(crate) fn done(self) {
        self.signals.done.lock().unwrap_or_else(PoisonError::into_inner).push(self.source);
        // If it cannot be written it is full, and the wait ends anyway.
        let _ = self.signals.waker.wake();
    }
}

impl Reactor {
    /// For a helper thread.
    pub(crate) fn signal(&self, source: usize) -> Signal {
        Signal { signals: self.signals.clone(), source }
    }

    /// Ends a wait.
    pub(crate) fn waker(&self) -> Arc<Waker> {
        self.signals.waker.clone()
    }
}
