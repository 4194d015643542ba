//! The store: a file and two threads. The writer groups the changes of all clients that arrive while the last
//! transaction goes to the disk (group commit). So an answer means that the change is on the disk, and many clients
//! cost little. The reader executes long reads, a step of each client's at a time.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use crate::file::{File, Snapshot, trouble};
use crate::operation::{Operation, Outcome, Outcomes, Read, refused};
use crate::reading::{Reader, Reading};
use crate::record::now;
use crate::watch::{Watch, Watches};
use crate::writer::{Answer, Job, Ring, Writer};

/// Records that are read directly on the home's thread, where all clients wait.
const QUICK: i64 = 300;
/// How long a client's read may last: until its end, deleted records keep their room in the file.
const LONGEST: Duration = Duration::from_secs(300);

/// An open store.
pub struct Store {
    file: Arc<File>,
    watches: Arc<Watches>,
    jobs: Sender<Job>,
    searches: Sender<Errand>,
}

/// A read that takes several steps.
pub struct Search {
    reading: Reading,
    snapshot: Arc<Snapshot>,
    now: u64,
    begun: Instant,
}

/// Outcomes of a search, and the search if there is more.
pub struct Found {
    /// The outcomes.
    pub outcomes: Vec<Outcome>,
    /// The rest of the search.
    pub rest: Option<Search>,
}

/// A request to the reader.
struct Errand {
    search: Search,
    found: Sender<Found>,
    ring: Ring,
}

impl Store {
    /// Opens the file, or creates it: for values of at most `largest` bytes, with a page cache of `cache` bytes.
    ///
    /// # Errors
    /// What is wrong with the file, or that another program uses it.
    pub fn open(path: &Path, largest: usize, cache: usize) -> Result<Store, String> {
        let file = Arc::new(File::open(path, cache)?);
        let watches = Arc::<Watches>::default();
        let ((jobs, inbox), (searches, wanted)) = (channel(), channel());
        let writer = Writer::new(file.clone(), watches.clone(), largest, inbox);
        start("writer", || writer.run())?;
        let shared = file.clone();
        start("reader", move || {
            // Short requests of other threads come first. Without the priority the thread works as well.
            let _ = rustix::process::nice(10);
            run_reader(&shared, &wanted);
        })?;
        Ok(Store { file, watches, jobs, searches })
    }

    /// A watch for a client, without keys.
    pub fn watch(&self) -> Arc<Watch> {
        self.watches.client()
    }

    /// Begins to read; a quick read is complete at once.
    pub fn read(&self, reads: Vec<Read>) -> Found {
        let count = reads.len();
        let work: Option<i64> = reads.iter().map(Read::work).sum();
        let snapshot = match self.file.snapshot() {
            Ok(snapshot) => snapshot,
            Err(error) => {
                self.file.fail();
                return Found { outcomes: refused(count, &trouble(&error)), rest: None };
            }
        };
        let search = Search { reading: Reading::of(reads), snapshot, now: now(), begun: Instant::now() };
        if work.is_some_and(|work| work <= QUICK) {
            search.step(&self.file)
        } else {
            Found { outcomes: Vec::new(), rest: Some(search) }
        }
    }

    /// Continues a search on the reader.
    pub fn read_on(&self, search: Search, ring: Ring) -> Receiver<Found> {
        let (found, come) = channel();
        // Without the thread the receiver is told that nothing comes.
        let _ = self.searches.send(Errand { search, found, ring });
        come
    }

    /// Executes operations on the writer, in order: all or none if `whole`; otherwise maybe only the first ones. When
    /// the answer comes, changes are on the disk.
    pub fn write(
        &self,
        operations: Vec<Operation>,
        whole: bool,
        watch: Option<Arc<Watch>>,
        ring: Ring,
    ) -> Receiver<Answer> {
        let (answer, come) = channel();
        let size = operations.iter().map(Operation::size).sum();
        let _ = self.jobs.send(Job { operations, size, whole, watch, answer, ring });
        come
    }
}

impl Search {
    /// Executes one step.
    fn step(mut self, file: &File) -> Found {
        let mut outcomes = Outcomes::default();
        let result = self.reading.step(&Reader::of(&*self.snapshot, self.now), &mut outcomes);
        let complaint = match result {
            Err(error) => {
                file.fail();
                trouble(&error.into())
            }
            Ok(()) if self.begun.elapsed() > LONGEST => "this answer has taken too long".into(),
            Ok(()) => {
                let rest = (self.reading.left() > 0).then_some(self);
                return Found { outcomes: outcomes.into_all(), rest };
            }
        };
        let mut outcomes = outcomes.into_all();
        outcomes.extend((0..self.reading.left()).map(|_| Outcome::Refused(complaint.clone())));
        Found { outcomes, rest: None }
    }
}

/// Serves searches until the store is gone.
fn run_reader(file: &File, wanted: &Receiver<Errand>) {
    let mut waiting = VecDeque::new();
    while let Some(errand) = waiting.pop_front().or_else(|| wanted.recv().ok()) {
        let Errand { search, found, ring } = errand;
        let step = search.step(file);
        // Further searches take turns with it.
        waiting.extend(wanted.try_iter());
        match step.rest {
            Some(search) if step.outcomes.is_empty() => waiting.push_back(Errand { search, found, ring }),
            _ => {
                // The client may be gone.
                let _ = found.send(step);
                ring();
            }
        }
    }
}

fn start(name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let started = thread::Builder::new().name(name.into()).spawn(run);
    started.map(drop).map_err(|error| format!("no thread for the store: {error}"))
}
