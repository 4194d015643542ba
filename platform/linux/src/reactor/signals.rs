//! What helper threads have done: they say so, which ends the program's wait.

use std::mem::take;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use drystone_runtime::native::Waiter;
use drystone_runtime::platform::Bell;
use mio::Waker;

use super::{Direction, Reactor};

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

/// A source that any threads signal, as often as they like.
struct Rung {
    reactor: Rc<Reactor>,
    source: usize,
}

impl Bell for Rung {
    fn wait(&self, waiter: Waiter) {
        self.reactor.wait_for(waiter, Some((self.source, Direction::Read)), None);
    }

    fn ringer(&self) -> Box<dyn FnOnce() + Send> {
        let signal = self.reactor.signal(self.source);
        Box::new(|| signal.done())
    }
}

impl Drop for Rung {
    fn drop(&mut self) {
        self.reactor.remove(self.source);
    }
}

impl Reactor {
    /// For native components of crates.
    pub(crate) fn bell(self: &Rc<Self>) -> Rc<dyn Bell> {
        Rc::new(Rung { reactor: self.clone(), source: self.source() })
    }

    /// For a helper thread.
    pub(crate) fn signal(&self, source: usize) -> Signal {
        Signal { signals: self.signals.clone(), source }
    }

    /// Ends a wait.
    pub(crate) fn waker(&self) -> Arc<Waker> {
        self.signals.waker.clone()
    }
}
