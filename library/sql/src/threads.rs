//! Threads for what takes long. One is made when all others have work, so there are as many as connections at most.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long the program's end waits for the last work.
const END: Duration = Duration::from_secs(2);

type Work = Box<dyn FnOnce() + Send>;

/// See the head of this file.
pub struct Threads {
    shared: Arc<Shared>,
    /// They are closed when their work is done, for which the program's end waits.
    last: RefCell<Vec<Receiver<()>>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Work has come, or no more will.
    news: Condvar,
}

#[derive(Default)]
struct State {
    work: VecDeque<Work>,
    /// All of them.
    threads: usize,
    /// Those without work.
    idle: usize,
    has_ended: bool,
}

impl Threads {
    pub fn new() -> Threads {
        Threads { shared: Arc::default(), last: RefCell::default() }
    }

    /// Has a thread do it. If the system has no more threads, it is done when one of them is free, or at once.
    pub fn begin(&self, work: impl FnOnce() + Send + 'static) {
        let mut state = self.shared.lock();
        if state.idle <= state.work.len() {
            let own = self.shared.clone();
            let made = thread::Builder::new().name("sql".into()).spawn(move || own.run());
            state.threads += usize::from(made.is_ok());
            if state.threads == 0 {
                drop(state);
                return work();
            }
        }
        state.work.push_back(Box::new(work));
        drop(state);
        self.shared.news.notify_one();
    }

    /// The same. The program's end waits for it.
    pub fn begin_last(&self, work: impl FnOnce() + Send + 'static) {
        let (done, end) = channel();
        {
            let last = &mut *self.last.borrow_mut();
            last.retain(|end| end.try_recv() == Err(TryRecvError::Empty));
            last.push(end);
        }
        self.begin(move || {
            work();
            drop(done);
        });
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        let until = Instant::now() + END;
        for end in self.last.get_mut() {
            // It is never sent anything: this ends with the work, or when it has taken too long.
            let _ = end.recv_timeout(until.saturating_duration_since(Instant::now()));
        }
        self.shared.lock().has_ended = true;
        self.shared.news.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What each thread does.
    fn run(&self) {
        let mut state = self.lock();
        loop {
            if let Some(work) = state.work.pop_front() {
                drop(state);
                // Whoever gives work that may panic tells of it; the thread stays.
                let _ = catch_unwind(AssertUnwindSafe(work));
                state = self.lock();
            } else if state.has_ended {
                return;
            } else {
                state.idle += 1;
                state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            }
        }
    }
}
