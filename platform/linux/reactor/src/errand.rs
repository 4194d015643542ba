//! Work that would block the home thread, which a helper thread does.

use std::io;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::thread;

use drystone_runtime::native::Waiter;

use crate::handler::Handler;
use crate::reactor::{Direction, Reactor};

/// See the head of this file. The work goes on to its end even if this is dropped, and the result is lost then.
pub struct Errand<T> {
    reactor: Rc<Reactor>,
    source: usize,
    result: Arc<Mutex<Option<T>>>,
}

impl<T: Send + 'static> Errand<T> {
    /// The errand, and the work that some thread has to do for it.
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

    /// Has a new thread with this name do the work.
    ///
    /// # Errors
    /// The system has no more threads.
    pub fn begin(
        reactor: &Rc<Reactor>,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Errand<T>> {
        let (errand, work) = Errand::new(reactor, work);
        thread::Builder::new().name(name.into()).spawn(work)?;
        Ok(errand)
    }

    /// The same; the handler runs when the work is done.
    ///
    /// # Errors
    /// The system has no more threads.
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
    /// The source that can be read when the work is done.
    pub fn source(&self) -> usize {
        self.source
    }

    /// The result, once; while there is none, the waiter will be woken by it.
    pub fn wait(&self, waiter: Waiter) -> Poll<T> {
        match self.result() {
            Some(result) => Poll::Ready(result),
            None => {
                self.reactor.wait_for(waiter, Some((self.source, Direction::Read)), None);
                Poll::Pending
            }
        }
    }

    /// The result, once; `None`: there is none yet.
    pub fn result(&self) -> Option<T> {
        self.result.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T> Drop for Errand<T> {
    fn drop(&mut self) {
        self.reactor.remove(self.source);
    }
}
