//! Work that would hold the home thread up, which a helper thread does.

use std::io;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::thread;

use drystone_runtime::native::Waiter;

use crate::handler::Handler;
use crate::reactor::{Direction, Reactor};

/// Such work. It is done to the end, also where nobody wants to know any more what comes of it.
pub struct Errand<T> {
    reactor: Rc<Reactor>,
    source: usize,
    result: Arc<Mutex<Option<T>>>,
}

impl<T: Send + 'static> Errand<T> {
    /// The errand, and what has to be done for it.
    pub fn new(
        reactor: &Rc<Reactor>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> (Errand<T>, impl FnOnce() + Send + 'static) {
        let errand = Errand { reactor: reactor.clone(), source: reactor.source(), result: Arc::default() };
        let (signal, result) = (reactor.signal(errand.source), errand.result.clone());
        let work = move || {
            let done = work();
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
            signal.done();
        };
        (errand, work)
    }

    /// Has it done by a thread with this name.
    pub fn begin(
        reactor: &Rc<Reactor>,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Errand<T>> {
        let (errand, work) = Errand::new(reactor, work);
        thread::Builder::new().name(name.into()).spawn(work)?;
        Ok(errand)
    }

    /// The same; the handler runs when it is done.
    pub fn begin_for(
        reactor: &Rc<Reactor>,
        name: &str,
        handler: Rc<dyn Handler>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Errand<T>> {
        let errand = Errand::begin(reactor, name, work)?;
        reactor.handle(errand.source, handler);
        Ok(errand)
    }
}

impl<T> Errand<T> {
    /// What is ready to be read when it is done.
    pub fn source(&self) -> usize {
        self.source
    }

    /// What has come of it, once; until then the waiter is woken by it.
    pub fn wait(&self, waiter: Waiter) -> Poll<T> {
        match self.result() {
            Some(result) => Poll::Ready(result),
            None => {
                self.reactor.wait_for(waiter, Some((self.source, Direction::Read)), None);
                Poll::Pending
            }
        }
    }

    /// What has come of it, once.
    pub fn result(&self) -> Option<T> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T> Drop for Errand<T> {
    fn drop(&mut self) {
        self.reactor.remove(self.source);
    }
}
