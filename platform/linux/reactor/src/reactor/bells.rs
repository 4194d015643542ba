//! Sources that other threads signal, as bells and wakers.

use std::rc::Rc;
use std::sync::Arc;

use drystone_runtime::native::Waiter;
use drystone_runtime::platform::Bell;
use mio::Waker;

use super::{Direction, Reactor};
use crate::signals::Signal;

/// A source that any thread signals, as often as it likes.
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
    /// A bell for a native component.
    pub fn bell(self: &Rc<Self>) -> Rc<dyn Bell> {
        Rc::new(Rung { reactor: self.clone(), source: self.source() })
    }

    /// Lets another thread signal this source, once.
    pub fn signal(&self, source: usize) -> Signal {
        Signal { signals: self.signals.clone(), source }
    }

    /// Ends a wait of the program, from any thread.
    pub fn waker(&self) -> Arc<Waker> {
        self.signals.waker.clone()
    }
}
