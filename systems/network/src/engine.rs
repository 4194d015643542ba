//! A thread that waits for sockets, for all who talk over them.

use std::future::Future;
use std::io;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use drystone_runtime::native::Caller;
use drystone_runtime::platform::Bell;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::timeout;

/// Names that are looked up at a time: the rest waits.
const LOOKUPS: usize = 16;

/// See the head of this file.
#[derive(Debug)]
pub struct Engine {
    handle: Handle,
    /// The thread ends when this does.
    _lives: oneshot::Sender<()>,
}

/// What is under way for a client; given up if this is dropped.
pub struct Task<T> {
    under_way: Option<(Receiver<io::Result<T>>, AbortHandle)>,
    /// Rings when it is done; made when it is first needed.
    bell: Option<Rc<dyn Bell>>,
}

impl Engine {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system has no more threads.
    pub fn start() -> io::Result<Engine> {
        let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(LOOKUPS).build()?;
        let handle = runtime.handle().clone();
        let (lives, ends) = oneshot::channel::<()>();
        thread::Builder::new().name("sockets".into()).spawn(move || {
            // It ends with an error, because nothing is sent.
            let _ = runtime.block_on(ends);
        })?;
        Ok(Engine { handle, _lives: lives })
    }

    /// Begins something, which fails if it isn't done within that time. What needs no waiting is done at once.
    ///
    /// # Errors
    /// It can't be begun, or has failed.
    pub fn begin<T: Send + 'static>(
        &self,
        task: &mut Task<T>,
        caller: &Caller,
        patience: Duration,
        work: impl Future<Output = io::Result<T>> + Send + 'static,
    ) -> Poll<io::Result<T>> {
        let _within = self.handle.enter();
        let mut work = Box::pin(async move {
            let late = |_| Err(io::Error::other(format!("it has taken more than {patience:?}")));
            timeout(patience, work).await.unwrap_or_else(late)
        });
        if let Poll::Ready(outcome) = work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return Poll::Ready(outcome);
        }
        task.bell = task.bell.take().or_else(|| caller.bell());
        let bell = task.bell.as_ref().ok_or_else(|| io::Error::other("there are no threads here"))?;
        let ((done, outcome), ring) = (channel(), bell.ringer());
        let running = self.handle.spawn(async move {
            // Who asked for it may have gone.
            let _ = done.send(work.await);
            ring();
        });
        task.under_way = Some((outcome, running.abort_handle()));
        task.look(caller)
    }
}

impl<T> Task<T> {
    /// Whether there is something.
    pub fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// What has come of it. While that isn't known, the client is woken when it is.
    ///
    /// # Errors
    /// It has failed.
    pub fn look(&mut self, caller: &Caller) -> Poll<io::Result<T>> {
        let outcome = match &self.under_way {
            Some((outcome, _)) => outcome.try_recv(),
            None => Err(TryRecvError::Disconnected),
        };
        if let (Err(TryRecvError::Empty), Some(bell)) = (&outcome, &self.bell) {
            bell.wait(caller.waiter());
            return Poll::Pending;
        }
        self.under_way = None;
        Poll::Ready(outcome.unwrap_or_else(|_| Err(io::Error::other("the thread for sockets has ended"))))
    }
}

impl<T> Default for Task<T> {
    fn default() -> Task<T> {
        Task { under_way: None, bell: None }
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        if let Some((_, running)) = &self.under_way {
            running.abort();
        }
    }
}
