//! The executor of a connection's futures. They are polled on the home's thread when the connection's source is ready,
//! when an answer is there, and when a time has come for which they wait.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::pin::{Pin, pin};
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake};
use std::time::{Duration, Instant};

use hyper::rt::{Executor, Sleep, Timer};

use drystone_net::socket::Socket;
use drystone_reactor::{Handler, Reactor, Time};

type Work = Pin<Box<dyn Future<Output = ()>>>;

/// See the head of this file.
pub(super) struct Task {
    me: Weak<Task>,
    reactor: Rc<Reactor>,
    socket: Rc<Socket>,
    /// The futures; when all have ended the connection is closed.
    work: RefCell<Vec<Work>>,
    spawner: Spawner,
    woken: Arc<Woken>,
    clock: Clock,
    alarm: Cell<Option<(Instant, Time)>>,
    runs: Cell<bool>,
    /// The connection is left to another handler.
    is_let_go: Cell<bool>,
}

/// A future wants to be polled again.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Woken>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Task {
    /// Begins work over this connection, which the task handles from now on.
    pub(super) fn start<F: Future<Output = ()> + 'static>(
        reactor: &Rc<Reactor>,
        socket: Rc<Socket>,
        work: impl FnOnce(Handle) -> F,
    ) -> Rc<Task> {
        let task = Rc::new_cyclic(|me| Task {
            me: me.clone(),
            reactor: reactor.clone(),
            socket,
            work: RefCell::default(),
            spawner: Spawner::default(),
            woken: Arc::default(),
            clock: Clock::default(),
            alarm: Cell::default(),
            runs: Cell::default(),
            is_let_go: Cell::default(),
        });
        let known = Known { task: task.me.clone(), spawner: task.spawner.clone(), clock: task.clock.clone() };
        let handle = Handle(Rc::new(known));
        task.spawner.execute(work(handle));
        reactor.handle(task.socket.source(), task.clone());
        task.run();
        task
    }

    /// Polls the futures until all of them wait.
    pub(super) fn run(&self) {
        self.woken.0.store(true, Ordering::Relaxed);
        if self.runs.replace(true) {
            return;
        }
        let waker = self.woken.clone().into();
        let mut context = Context::from_waker(&waker);
        while self.woken.0.swap(false, Ordering::Relaxed) {
            let mut work = self.work.take();
            work.append(&mut self.spawner.0.borrow_mut());
            work.retain_mut(|one| one.as_mut().poll(&mut context).is_pending());
            // Futures that were begun meanwhile have their turn now.
            let is_more = !self.spawner.0.borrow().is_empty();
            self.woken.0.fetch_or(is_more, Ordering::Relaxed);
            self.work.borrow_mut().append(&mut work);
        }
        self.runs.set(false);
        if self.work.borrow().is_empty() {
            self.end();
        } else {
            self.wait();
        }
    }

    /// Drops the futures, and closes the connection.
    pub(super) fn end(&self) {
        let work = self.work.take();
        drop(work);
        self.cancel();
        if !self.is_let_go.get() {
            self.socket.close();
            self.reactor.unhandle(self.socket.source());
        }
    }

    fn wait(&self) {
        let next = self.clock.next.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(next), Some(me)) = (next, self.me.upgrade())
            && self.alarm.get().is_none_or(|(alarm, _)| next < alarm || alarm <= Instant::now())
        {
            self.cancel();
            self.alarm.set(Some((next, self.reactor.at(next, me))));
        }
    }

    fn cancel(&self) {
        if let Some((_, time)) = self.alarm.take() {
            self.reactor.cancel(time);
        }
    }
}

impl Handler for Task {
    fn ready(&self) {
        self.run();
    }
}

/// A task, as its work knows it.
#[derive(Clone)]
pub(super) struct Handle(Rc<Known>);

/// See there: one thing, because each request has a clone.
pub(super) struct Known {
    task: Weak<Task>,
    pub(super) spawner: Spawner,
    pub(super) clock: Clock,
}

impl Deref for Handle {
    type Target = Known;

    fn deref(&self) -> &Known {
        &self.0
    }
}

impl Handle {
    /// Something has come for which the work may wait: polls it.
    pub(super) fn run(&self) {
        if let Some(task) = self.task.upgrade() {
            task.run();
        }
    }

    /// Leaves the connection to another handler; the work has to end.
    pub(super) fn let_go(&self) {
        if let Some(task) = self.task.upgrade() {
            task.is_let_go.set(true);
        }
    }

    /// Ends the work.
    pub(super) fn end(&self) {
        if let Some(task) = self.task.upgrade() {
            task.end();
        }
    }
}

/// Takes more work for a task.
#[derive(Clone, Default)]
pub(super) struct Spawner(Rc<RefCell<Vec<Work>>>);

impl<F: Future + 'static> Executor<F> for Spawner {
    fn execute(&self, work: F) {
        self.0.borrow_mut().push(Box::pin(async move {
            work.await;
        }));
    }
}

/// Timers for a task's work: the first time for which a future waits.
#[derive(Clone, Default)]
pub(super) struct Clock {
    next: Arc<Mutex<Option<Instant>>>,
}

impl Timer for Clock {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(Instant::now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Pause { deadline, clock: self.clone() })
    }
}

impl Clock {
    /// The result of the work; `None`: it takes longer.
    pub(super) async fn within<T>(&self, patience: Duration, work: impl Future<Output = T>) -> Option<T> {
        let mut late = self.sleep(patience);
        let mut work = pin!(work);
        poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending => late.as_mut().poll(context).map(|()| None),
        })
        .await
    }
}

struct Pause {
    deadline: Instant,
    clock: Clock,
}

impl Future for Pause {
    type Output = ();

    fn poll(self: Pin<&mut Pause>, _: &mut Context<'_>) -> Poll<()> {
        if self.deadline <= Instant::now() {
            return Poll::Ready(());
        }
        let mut next = self.clock.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next = Some(next.map_or(self.deadline, |next| next.min(self.deadline)));
        Poll::Pending
    }
}

impl Sleep for Pause {}
