//! A pool of threads, for work that may wait for a disk.

use std::sync::mpsc;
use std::thread;

use crossbeam_channel::{Receiver, Sender, unbounded};

type Job = Box<dyn FnOnce() + Send>;

/// See the head of this file.
#[derive(Debug)]
pub struct Pool {
    jobs: Sender<Job>,
}

impl Pool {
    /// Starts the threads, which end with the pool. With a higher `nice` they get less of a busy processor.
    ///
    /// # Errors
    /// The system has no more threads.
    pub fn new(name: &str, threads: usize, nice: i32) -> std::io::Result<Pool> {
        let (jobs, inbox) = unbounded::<Job>();
        for number in 1..=threads {
            let inbox = inbox.clone();
            thread::Builder::new().name(format!("{name} {number}")).spawn(move || {
                // Without it the thread works as well.
                let _ = rustix::process::nice(nice);
                work(&inbox);
            })?;
        }
        Ok(Pool { jobs })
    }

    /// Runs a job on one of the threads, and then `ring`.
    pub fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
        ring: Box<dyn FnOnce() + Send>,
    ) -> mpsc::Receiver<T> {
        let (done, result) = mpsc::channel();
        let job = move || {
            // The receiver may be gone.
            let _ = done.send(job());
            ring();
        };
        // Without threads the receiver is told that nothing comes.
        let _ = self.jobs.send(Box::new(job));
        result
    }
}

fn work(inbox: &Receiver<Job>) {
    inbox.iter().for_each(|job| job());
}
