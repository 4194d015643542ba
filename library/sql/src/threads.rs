//! Threads for what takes long. One is made when all others have work, so there are as many as connections at most.

use std::cell::RefCell;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long the program's end waits for the last work.
const END: Duration = Duration::from_secs(2);

type Work = Box<dyn FnOnce() + Send>;

/// See the head of this file.
pub struct Threads {
    work: Sender<Work>,
    shared: Arc<Shared>,
    /// They are closed when their work is done, for which the program's end waits.
    last: RefCell<Vec<Receiver<()>>>,
}

struct Shared {
    come: Mutex<Receiver<Work>>,
    /// Threads without work; less than 0: work without a thread.
    idle: AtomicIsize,
}

impl Threads {
    pub fn new() -> Threads {
        let (work, come) = channel();
        let shared = Arc::new(Shared { come: Mutex::new(come), idle: AtomicIsize::new(0) });
        Threads { work, shared, last: RefCell::default() }
    }

    /// Has a thread do it. If the system has no more threads, it is done when one of them is free, or at once.
    pub fn begin(&self, work: impl FnOnce() + Send + 'static) {
        let shared = &self.shared;
        if shared.idle.fetch_sub(1, Ordering::Relaxed) <= 0 {
            let own = shared.clone();
            let made = thread::Builder::new().name("sql".into()).spawn(move || own.run());
            if made.is_ok() {
                shared.idle.fetch_add(1, Ordering::Relaxed);
            } else if Arc::strong_count(shared) == 1 {
                shared.idle.fetch_add(1, Ordering::Relaxed);
                return work();
            }
        }
        // The receiver is this one's.
        let _ = self.work.send(Box::new(work));
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
    }
}

impl Shared {
    fn run(&self) {
        loop {
            let work = self.come.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(work) = work else { return };
            work();
            self.idle.fetch_add(1, Ordering::Relaxed);
        }
    }
}
