//! The writer: groups the changes of all clients into transactions (group commit).

use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use redb::Error;

use crate::changing::Tables;
use crate::file::{File, trouble};
use crate::operation::{Change, Operation, Outcome, Outcomes, PIECE, refused};
use crate::reading::Reader;
use crate::record::now;
use crate::watch::{Watch, Watches};

/// Bytes of operations in a transaction; the last client's may exceed it.
const LARGEST_TRANSACTION: usize = 1024 * 1024;
/// Bytes of outcomes of a transaction; the last client's may exceed it.
const LARGEST_OUTCOMES: usize = 4 * 1024 * 1024;
/// Bytes of the outcomes of one `whole` job.
const LARGEST_WHOLE: usize = 32 * 1024 * 1024;
/// The error for a job with more.
const TOO_MUCH: &str = "its answers are too long";
/// Bytes of long outcomes that all clients together may have pending.
const MOST_GIVEN: usize = 128 * 1024 * 1024;
/// Expired records that are deleted in one transaction.
const SWEPT: usize = 1000;
/// The interval between sweeps of expired records.
const SWEEP: Duration = Duration::from_secs(1);

/// Tells a client that its answer is there.
pub type Ring = Box<dyn FnOnce() + Send>;

/// The operations of a client.
pub struct Job {
    /// The operations.
    pub operations: Vec<Operation>,
    /// Their bytes.
    pub size: usize,
    /// All or none, and only if no watched key has changed.
    pub whole: bool,
    /// What the client watches.
    pub watch: Option<Arc<Watch>>,
    /// Receives the answer.
    pub answer: Sender<Answer>,
    /// Called once the answer is sent.
    pub ring: Ring,
}

/// The outcome of a job.
pub enum Answer {
    /// The outcomes of the first operations; the operations that are left.
    Done(Vec<Outcome>, Vec<Operation>, Load),
    /// A watched key has changed, so nothing is done.
    Changed,
    /// Nothing is done, for this reason.
    Spoiled(String),
}

/// Counts the bytes of outcomes that a client hasn't taken yet, until it is dropped.
pub struct Load(Arc<AtomicUsize>, usize);

impl Load {
    fn of(given: &Arc<AtomicUsize>, bytes: usize) -> Load {
        let bytes = if bytes > 2 * PIECE { bytes } else { 0 };
        given.fetch_add(bytes, Ordering::Relaxed);
        Load(given.clone(), bytes)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}

/// The outcome of a job before the commit.
enum Done {
    /// So many operations are done, with their outcomes.
    Some(usize, Outcomes),
    Changed,
    /// Its outcomes are too large, which was seen before anything was done.
    TooMuch,
}

/// Why nothing was committed.
enum Trouble {
    /// The outcomes of the job with this number are too large.
    TooMuch(usize),
    File(String),
    /// For this reason writing pauses.
    Rests(String),
}

impl<E: Into<Error>> From<E> for Trouble {
    fn from(error: E) -> Trouble {
        Trouble::File(trouble(&error.into()))
    }
}

/// The writer's thread.
pub struct Writer {
    file: Arc<File>,
    watches: Arc<Watches>,
    largest: usize,
    inbox: Receiver<Job>,
    /// Jobs for the next transaction.
    waiting: VecDeque<Job>,
    given: Arc<AtomicUsize>,
    /// When a sweep last found nothing expired.
    swept: Cell<Instant>,
}

impl Writer {
    /// A writer of a file, with values of at most `largest` bytes.
    pub fn new(file: Arc<File>, watches: Arc<Watches>, largest: usize, inbox: Receiver<Job>) -> Writer {
        Writer {
            file,
            watches,
            largest,
            inbox,
            waiting: VecDeque::new(),
            given: Arc::default(),
            swept: Cell::new(Instant::now()),
        }
    }

    /// Serves jobs until the store is gone.
    pub fn run(mut self) {
        loop {
            let first = match self.waiting.pop_front() {
                Some(job) => Ok(job),
                None => self.inbox.recv_timeout(SWEEP),
            };
            self.file.mend(None);
            match first {
                Ok(first) => {
                    let jobs = self.with_others(first);
                    self.commit(jobs);
                }
                Err(RecvTimeoutError::Timeout) => self.sweep(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// All jobs that have arrived meanwhile.
    fn with_others(&mut self, first: Job) -> VecDeque<Job> {
        let mut size = first.size;
        let mut jobs = VecDeque::from([first]);
        while size < LARGEST_TRANSACTION
            && let Some(job) = self.waiting.pop_front().or_else(|| self.inbox.try_recv().ok())
        {
            size += job.size;
            jobs.push_back(job);
        }
        jobs
    }

    /// Executes and answers jobs; some may wait for the next transaction.
    fn commit(&mut self, mut jobs: VecDeque<Job>) {
        loop {
            match self.transact(&jobs) {
                Ok(done) => {
                    self.file.give_up_snapshot();
                    let others = jobs.split_off(done.len());
                    others.into_iter().rev().for_each(|job| self.waiting.push_front(job));
                    return jobs.into_iter().zip(done).for_each(|(job, done)| self.answer(job, done));
                }
                Err(Trouble::TooMuch(number)) => {
                    let job = jobs.remove(number).expect("it is one of them");
                    spoil(job, TOO_MUCH.into());
                }
                Err(Trouble::Rests(reason)) => return jobs.into_iter().for_each(|job| fail(job, &reason)),
                Err(Trouble::File(reason)) => {
                    // Reopened before the answer, so that clients can read at once.
                    self.file.fail();
                    self.file.mend(Some(&reason));
                    return jobs.into_iter().for_each(|job| fail(job, &reason));
                }
            }
        }
    }

    fn answer(&self, mut job: Job, done: Done) {
        let answer = match done {
            Done::Some(count, outcomes) => {
                let (rest, load) = (job.operations.split_off(count), Load::of(&self.given, outcomes.size()));
                Answer::Done(outcomes.into_all(), rest, load)
            }
            Done::Changed => Answer::Changed,
            Done::TooMuch => Answer::Spoiled(TOO_MUCH.into()),
        };
        say(job, answer);
    }

    /// The outcomes of the first jobs, once they are on the disk.
    fn transact(&self, jobs: &VecDeque<Job>) -> Result<Vec<Done>, Trouble> {
        if let Some(reason) = self.file.why_not() {
            return Err(Trouble::Rests(reason));
        }
        let transaction = self.file.write()?;
        let mut tables = Tables::open(&transaction, &self.watches, self.largest, now())?;
        // As long as there are expired records, the next transaction sweeps, too.
        if self.swept.get().elapsed() > SWEEP && !tables.sweep(SWEPT)? {
            self.swept.set(Instant::now());
        }
        let (mut all, mut size) = (Vec::with_capacity(jobs.len()), 0);
        for (number, job) in jobs.iter().enumerate() {
            if size > LARGEST_OUTCOMES {
                break;
            }
            let room = MOST_GIVEN.saturating_sub(self.given.load(Ordering::Relaxed) + size).max(PIECE);
            let done;
            (tables, done) = perform(tables, job, room)?;
            if let Done::Some(_, outcomes) = &done {
                if job.whole && outcomes.size() > room.min(LARGEST_WHOLE) {
                    return Err(Trouble::TooMuch(number));
                }
                size += outcomes.size();
            }
            all.push(done);
        }
        let has_changed = tables.has_changed;
        drop(tables);
        if has_changed {
            transaction.commit()?
        } else {
            transaction.abort()?
        }
        Ok(all)
    }

    /// Sweeps while there is nothing else to do.
    fn sweep(&self) {
        if self.file.why_not().is_some() {
            return;
        }
        let sweep = || -> Result<bool, Trouble> {
            let transaction = self.file.write()?;
            let mut tables = Tables::open(&transaction, &self.watches, self.largest, now())?;
            let has_swept = tables.sweep(SWEPT)?;
            drop(tables);
            if has_swept {
                transaction.commit()?
            } else {
                transaction.abort()?
            }
            Ok(has_swept)
        };
        match sweep() {
            Ok(false) => {}
            Ok(true) => self.file.give_up_snapshot(),
            // Tried again later.
            Err(_) => self.file.fail(),
        }
    }
}

/// Executes operations of a job: all, or until there are enough outcomes.
fn perform<'t>(mut tables: Tables<'t>, job: &Job, room: usize) -> Result<(Tables<'t>, Done), Trouble> {
    if job.whole && job.watch.as_ref().is_some_and(|watch| watch.has_changed(tables.now)) {
        return Ok((tables, Done::Changed));
    }
    if job.whole && expected(&tables, job)? > LARGEST_WHOLE {
        return Ok((tables, Done::TooMuch));
    }
    let (mut count, mut outcomes) = (0, Outcomes::default());
    for operation in &job.operations {
        if !job.whole && outcomes.is_full() || job.whole && outcomes.size() > LARGEST_WHOLE {
            break;
        }
        match operation {
            Operation::Read(read) => {
                Reader::of(&tables, tables.now).read_whole(read, &mut outcomes, LARGEST_WHOLE)?;
            }
            Operation::Change(change) => {
                if matches!(change, Change::Clear) {
                    tables = tables.cleared()?;
                }
                tables.apply(change, job.watch.as_ref(), room, &mut outcomes)?;
            }
        }
        count += 1;
    }
    Ok((tables, Done::Some(count, outcomes)))
}

/// About how many bytes of existing values a job reads.
fn expected(tables: &Tables, job: &Job) -> Result<usize, Trouble> {
    let reader = Reader::of(tables, tables.now);
    let mut size = 0;
    for operation in &job.operations {
        if let Operation::Read(read) = operation {
            size += reader.size(read)?;
        }
    }
    Ok(size)
}

/// Answers a job whose transaction failed.
fn fail(job: Job, reason: &str) {
    if job.whole {
        return spoil(job, reason.into());
    }
    let outcomes = refused(job.operations.len(), reason);
    say(job, Answer::Done(outcomes, Vec::new(), Load(Arc::default(), 0)));
}

fn spoil(job: Job, reason: String) {
    say(job, Answer::Spoiled(reason));
}

fn say(job: Job, answer: Answer) {
    if job.whole
        && let Some(watch) = &job.watch
    {
        watch.clear();
    }
    // The client may be gone.
    let _ = job.answer.send(answer);
    (job.ring)();
}
