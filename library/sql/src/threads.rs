//! Threads for what takes long. One is made when all others have work, so there are as many as connections at most.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

type Work = Box<dyn FnOnce() + Send>;

/// See the head of this file.
pub struct Threads {
    work: Sender<Work>,
    shared: Arc<Shared>,
}

struct Shared {
    come: Mutex<Receiver<Work>>,
    /// Threads that wait for work which nobody has given yet.
    idle: AtomicUsize,
}

impl Threads {
    pub fn new() -> Threads {
        let (work, come) = channel();
        Threads { work, shared: Arc::new(Shared { come: Mutex::new(come), idle: AtomicUsize::new(0) }) }
    }

    /// Has a thread do it. If the system has no more threads, it is done when one of them is free, or at once.
    pub fn begin(&self, work: impl FnOnce() + Send + 'static) {
        let shared = &self.shared;
        let is_taken = |idle: usize| idle.checked_sub(1);
        if shared.idle.fetch_update(Ordering::Relaxed, Ordering::Relaxed, is_taken).is_err() {
            let own = shared.clone();
            let made = thread::Builder::new().name("sql".into()).spawn(move || own.run());
            if made.is_err() && Arc::strong_count(shared) == 1 {
                return work();
            }
        }
        // The receiver is this one's.
        let _ = self.work.send(Box::new(work));
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
