//! The file and its threads. One of them makes one transaction of all changes that clients have asked for while the last one went to
//! the disk: so an answer means that its operations are there, and how many clients there are costs little. The other one reads what
//! takes long.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use redb::{Database, Error, ReadOnlyTable, ReadableDatabase};

use crate::operation::{Operation, Outcome, Outcomes};
use crate::table::{EXPIRIES, RECORDS, Tables, now, read};

/// Bytes of operations in one transaction, where the last client may bring more.
const LARGEST_TRANSACTION: usize = 1024 * 1024;
/// What is read on the home's thread, where all clients wait for it: this many records, and this many bytes.
const QUICK_WORK: i64 = 300;
/// See [`QUICK_WORK`].
const QUICK_BYTES: usize = 128 * 1024;
/// Of those that have expired, as many are deleted at once.
const SWEPT: usize = 1000;
/// How long expired records may take room.
const SWEEP: Duration = Duration::from_secs(1);
/// Bytes of the file that are kept in memory.
const CACHE: usize = 256 * 1024 * 1024;

/// What a client wants to be done together.
struct Job {
    operations: Vec<Operation>,
    size: usize,
    outcomes: Sender<Vec<Outcome>>,
    /// Tells the client that the outcomes are there.
    ring: Box<dyn FnOnce() + Send>,
}

/// An open store.
pub struct Store {
    database: Arc<Database>,
    records: Arc<Snapshot>,
    jobs: Sender<Job>,
    reads: Sender<Job>,
}

type Records = ReadOnlyTable<&'static [u8], &'static [u8]>;

/// The records as they are now, for all that is read until something changes. It holds on to what is deleted meanwhile, so who changes
/// something gives it up, before anybody is told.
#[derive(Default)]
struct Snapshot(Mutex<Option<Records>>);

impl Snapshot {
    fn look(&self, database: &Database, operations: &[Operation]) -> Result<Outcomes, Error> {
        let records = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let records = match records {
            Some(records) => records,
            None => records.insert(open(database)?),
        };
        look(records, operations, Outcomes::of(QUICK_BYTES))
    }

    fn give_up(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

impl Store {
    /// Opens the file, which is made if it is missing.
    ///
    /// # Errors
    /// What is wrong with it, or that another program uses it.
    pub fn open(path: &Path) -> Result<Store, String> {
        let open = || -> Result<Database, Error> {
            let database = Database::builder().set_cache_size(CACHE).create(path)?;
            let transaction = database.begin_write()?;
            transaction.open_table(RECORDS)?;
            transaction.open_table(EXPIRIES)?;
            transaction.commit()?;
            Ok(database)
        };
        let database = Arc::new(open().map_err(|error| format!("{}: {error}", path.display()))?);
        let ((jobs, inbox), (reads, wanted)) = (channel(), channel());
        let records = Arc::<Snapshot>::default();
        let writer = Writer { database: database.clone(), records: records.clone(), inbox };
        start("writer", || writer.run())?;
        let shared = database.clone();
        start("reader", move || {
            // Where the processor is wanted, who asks for little comes first. Without it the thread works as well.
            let _ = rustix::process::nice(10);
            wanted.into_iter().for_each(|job| answer(&shared, job));
        })?;
        Ok(Store { database, records, jobs, reads })
    }

    /// Does operations that only read, at once; `None`: that would take long.
    pub fn read_now(&self, operations: &[Operation]) -> Option<Vec<Outcome>> {
        let work: i64 = operations.iter().map(Operation::work).sum();
        if work > QUICK_WORK {
            return None;
        }
        match self.records.look(&self.database, operations) {
            Ok(outcomes) => outcomes.has_room().then(|| outcomes.into_all()),
            Err(error) => {
                self.records.give_up();
                Some(refused(operations, &error))
            }
        }
    }

    /// Has operations done together, on another thread. The outcomes come when what was changed is on the disk, and `ring` is
    /// called then.
    pub fn begin(
        &self,
        operations: Vec<Operation>,
        ring: Box<dyn FnOnce() + Send>,
    ) -> Receiver<Vec<Outcome>> {
        let (outcomes, come) = channel();
        let size = operations.iter().map(Operation::size).sum();
        let thread = if operations.iter().all(Operation::only_reads) { &self.reads } else { &self.jobs };
        // Without the thread nothing comes, and the receiver is told so.
        let _ = thread.send(Job { operations, size, outcomes, ring });
        come
    }
}

fn start(name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let started = thread::Builder::new().name(name.into()).spawn(run);
    started.map(drop).map_err(|error| format!("no thread for the store: {error}"))
}

/// The records as they are now.
fn open(database: &Database) -> Result<Records, Error> {
    Ok(database.begin_read()?.open_table(RECORDS)?)
}

/// Does operations that only read.
fn look(records: &Records, operations: &[Operation], mut outcomes: Outcomes) -> Result<Outcomes, Error> {
    let now = now();
    for operation in operations {
        read(records, operation, now, &mut outcomes)?;
    }
    Ok(outcomes)
}

/// Reads much, on the reader's thread.
fn answer(database: &Database, job: Job) {
    let outcomes = open(database).and_then(|records| look(&records, &job.operations, Outcomes::default()));
    let outcomes = outcomes.map(Outcomes::into_all).unwrap_or_else(|error| refused(&job.operations, &error));
    // The client may have gone.
    let _ = job.outcomes.send(outcomes);
    (job.ring)();
}

struct Writer {
    database: Arc<Database>,
    records: Arc<Snapshot>,
    inbox: Receiver<Job>,
}

impl Writer {
    /// Until the store is gone.
    fn run(self) {
        loop {
            match self.inbox.recv_timeout(SWEEP) {
                Ok(first) => self.commit(self.with_others(first)),
                // What can't be deleted now is tried again.
                Err(RecvTimeoutError::Timeout) => drop(self.sweep()),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// All that have come meanwhile.
    fn with_others(&self, first: Job) -> Vec<Job> {
        let mut size = first.size;
        let mut jobs = vec![first];
        while size < LARGEST_TRANSACTION
            && let Ok(job) = self.inbox.try_recv()
        {
            size += job.size;
            jobs.push(job);
        }
        jobs
    }

    fn commit(&self, jobs: Vec<Job>) {
        let outcomes = self.transact(&jobs);
        self.records.give_up();
        let mut outcomes = outcomes.map(Vec::into_iter);
        for job in jobs {
            let own = match &mut outcomes {
                Ok(all) => all.next().expect("each job has its outcomes"),
                Err(error) => refused(&job.operations, error),
            };
            // The client may have gone.
            let _ = job.outcomes.send(own);
            (job.ring)();
        }
    }

    /// The outcomes of each job, when all are on the disk.
    fn transact(&self, jobs: &[Job]) -> Result<Vec<Vec<Outcome>>, Error> {
        let transaction = self.database.begin_write()?;
        let now = now();
        let outcomes = {
            let (records, expiries) = (transaction.open_table(RECORDS)?, transaction.open_table(EXPIRIES)?);
            let mut tables = Tables { records, expiries };
            tables.sweep(now, SWEPT)?;
            let mut own = |job: &Job| {
                let mut outcomes = Outcomes::default();
                for operation in &job.operations {
                    tables.apply(operation, now, &mut outcomes)?;
                }
                Ok(outcomes.into_all())
            };
            jobs.iter().map(&mut own).collect::<Result<_, Error>>()?
        };
        transaction.commit()?;
        Ok(outcomes)
    }

    /// While there is nothing else to do.
    fn sweep(&self) -> Result<(), Error> {
        let transaction = self.database.begin_write()?;
        let swept = {
            let (records, expiries) = (transaction.open_table(RECORDS)?, transaction.open_table(EXPIRIES)?);
            Tables { records, expiries }.sweep(now(), SWEPT)?
        };
        if swept == 0 {
            transaction.abort()?
        } else {
            transaction.commit()?;
            self.records.give_up();
        }
        Ok(())
    }
}

/// What is said where the file can't be read or written.
fn refused(operations: &[Operation], error: &Error) -> Vec<Outcome> {
    vec![Outcome::Refused(format!("the store's file: {error}")); operations.len()]
}
