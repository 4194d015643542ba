//! Sources that other threads signal.

use std::rc::Rc;
use std::sync::Arc;

use drystone_runtime::native::Waiter;
use drystone_runtime::platform::Bell;
use mio::Waker;

use super::{Direction, Reactor};
use crate::signals::Signal;

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
    pub fn bell(self: &Rc<Self>) -> Rc<dyn Bell> {
        Rc::new(Rung { reactor: self.clone(), source: self.source() })
    }

    /// For a helper thread.
    pub fn signal(&self, source: usize) -> Signal {
        Signal { signals: self.signals.clone(), source }
    }

    /// Ends a wait.
    pub fn waker(&self) -> Arc<Waker> {
        self.signals.waker.clone()
    }
}
