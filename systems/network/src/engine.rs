//! A thread that waits for the sockets of all clients.

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

/// Concurrent name look-ups; further ones wait.
const LOOKUPS: usize = 16;

/// See the head of this file.
#[derive(Debug)]
pub struct Engine {
    handle: Handle,
    /// The thread ends when this is dropped.
    _lives: oneshot::Sender<()>,
}

/// A pending operation of a client, cancelled on drop.
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
            // Returns with an error when the sender is dropped: nothing is ever sent.
            let _ = runtime.block_on(ends);
        })?;
        Ok(Engine { handle, _lives: lives })
    }

    /// Begins an operation that must be done within a time limit. An operation that needn't wait is done at once.
    ///
    /// # Errors
    /// It can't begin, or has failed.
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
            // The client may be gone.
            let _ = done.send(work.await);
            ring();
        });
        task.under_way = Some((outcome, running.abort_handle()));
        task.look(caller)
    }
}

impl<T> Task<T> {
    /// Whether an operation is pending.
    pub fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// Its result. Until there is one, the client waits to be woken.
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
