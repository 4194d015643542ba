//! The store's file. After a failed write or read it is opened anew, as after a crash: committed transactions are
//! there, pending ones are not. So a full disk is used again as soon as it has room.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use redb::{
    Database, Error, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata,
    StorageError, WriteTransaction,
};

use crate::reading::View;
use crate::record::{EXPIRIES, Failable, OLD_RECORDS, PLACES, RECORDS, Record, storage};

/// An open file.
pub struct File {
    path: PathBuf,
    /// Bytes of the page cache.
    cache: usize,
    /// `None`: it couldn't be reopened.
    database: RwLock<Option<Database>>,
    /// The snapshot for all reads until the next change. It keeps deleted pages in use, so the writer drops it before
    /// it answers.
    snapshot: Mutex<Option<Arc<Snapshot>>>,
    /// An operation has failed: the file must be reopened first.
    is_broken: AtomicBool,
    /// While writing pauses after a failure: since when, for how long, and why.
    rest: Mutex<Option<Rest>>,
}

/// A pause in writing, because writing has failed.
struct Rest {
    until: Instant,
    reason: String,
    /// The disk's free bytes at its beginning.
    room: u64,
}

/// The records at one moment.
pub struct Snapshot {
    transaction: ReadTransaction,
    records: ReadOnlyTable<&'static [u8], &'static [u8]>,
    places: OnceLock<ReadOnlyTable<u64, &'static [u8]>>,
}

/// With a full disk, writing is tried again after this time, and ten times as long as opening took; or once the disk
/// has this many more bytes free.
const AGAIN: Duration = Duration::from_secs(1);
const MORE_ROOM: u64 = 1024 * 1024;

impl File {
    /// Opens the file, or creates it.
    ///
    /// # Errors
    /// What is wrong with the file, or that another program uses it.
    pub fn open(path: &Path, cache: usize) -> Result<File, String> {
        let database = open(path, cache).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(File {
            path: path.into(),
            cache,
            database: RwLock::new(Some(database)),
            snapshot: Mutex::default(),
            is_broken: AtomicBool::new(false),
            rest: Mutex::default(),
        })
    }

    /// Begins a transaction that writes.
    ///
    /// # Errors
    /// The file is broken until it is reopened.
    pub fn write(&self) -> Result<WriteTransaction, Error> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        Ok(database.as_ref().ok_or(StorageError::PreviousIo)?.begin_write()?)
    }

    /// Why writing pauses, if it does.
    pub fn why_not(&self) -> Option<String> {
        let rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = rest.as_ref().filter(|rest| rest.until > Instant::now());
        let rest = rest.filter(|rest| room(&self.path) < rest.room.saturating_add(MORE_ROOM));
        rest.map(|rest| rest.reason.clone())
    }

    /// A snapshot of the present records.
    ///
    /// # Errors
    /// The file is broken until it is reopened.
    pub fn snapshot(&self) -> Result<Arc<Snapshot>, Error> {
        let snapshot = &mut *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(snapshot) = snapshot {
            return Ok(snapshot.clone());
        }
        // The lock is held for long only while the file is reopened.
        let database = self.database.try_read().map_err(|_| StorageError::PreviousIo)?;
        let transaction = database.as_ref().ok_or(StorageError::PreviousIo)?.begin_read()?;
        let records = transaction.open_table(RECORDS)?;
        Ok(snapshot.insert(Arc::new(Snapshot { transaction, records, places: OnceLock::new() })).clone())
    }

    /// Drops the shared snapshot after a change.
    pub fn give_up_snapshot(&self) {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Marks the file as broken.
    pub fn fail(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
        self.give_up_snapshot();
    }

    /// Reopens a broken file for reading. With a reason, writing pauses.
    pub fn mend(&self, reason: Option<&str>) {
        if !self.is_broken.load(Ordering::Relaxed) || self.why_not().is_some() {
            return;
        }
        let database = &mut *self.database.write().unwrap_or_else(PoisonError::into_inner);
        // Closed first: a file can be open only once, even within a program.
        database.take();
        let begun = Instant::now();
        let opened = open(&self.path, self.cache);
        let until = Instant::now() + AGAIN.max(begun.elapsed() * 10);
        let reason = match (&opened, reason) {
            (Err(error), _) => Some(trouble(error)),
            (Ok(_), reason) => reason.map(String::from),
        };
        *self.rest.lock().unwrap_or_else(PoisonError::into_inner) =
            reason.map(|reason| Rest { until, reason, room: room(&self.path) });
        *database = opened.ok();
        self.is_broken.store(database.is_none(), Ordering::Relaxed);
    }
}

/// The error message for a file that can't be read or written.
pub fn trouble(error: &Error) -> String {
    match error {
        Error::PreviousIo | Error::DatabaseClosed => {
            "the store's file is being opened anew, try again".into()
        }
        error => format!("the store's file: {error}"),
    }
}

/// The free bytes of the disk.
fn room(path: &Path) -> u64 {
    rustix::fs::statvfs(path).map_or(0, |disk| disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn open(path: &Path, cache: usize) -> Result<Database, Error> {
    let database = Database::builder().set_cache_size(cache).create(path)?;
    let transaction = database.begin_write()?;
    renew(&transaction)?;
    transaction.commit()?;
    Ok(database)
}

/// Creates the tables, converting those of an earlier version.
fn renew(transaction: &WriteTransaction) -> Result<(), Error> {
    let (mut records, mut places) = (transaction.open_table(RECORDS)?, transaction.open_table(PLACES)?);
    transaction.open_table(EXPIRIES)?;
    if !transaction.list_tables()?.any(|table| redb::TableHandle::name(&table) == "records") {
        return Ok(());
    }
    let old_records = transaction.open_table(OLD_RECORDS)?;
    for (place, entry) in (1..).zip(old_records.iter()?) {
        let (key, old) = entry?;
        let (time, value) = old.value().split_first_chunk().expect("a record began with its time");
        places.insert(place, key.value())?;
        let record = Record { time: u64::from_be_bytes(*time), place, value };
        records.insert(key.value(), &*record.bytes())?;
    }
    drop(old_records);
    transaction.delete_table(OLD_RECORDS)?;
    Ok(())
}

impl View for Snapshot {
    type Records = ReadOnlyTable<&'static [u8], &'static [u8]>;
    type Places = ReadOnlyTable<u64, &'static [u8]>;

    fn records(&self) -> &Self::Records {
        &self.records
    }

    fn places(&self) -> Failable<&Self::Places> {
        if self.places.get().is_none() {
            // Another thread may have opened it meanwhile.
            let _ = self.places.set(self.transaction.open_table(PLACES).map_err(storage)?);
        }
        Ok(self.places.get().expect("it was opened"))
    }

    fn timed(&self) -> Failable<u64> {
        self.transaction.open_table(EXPIRIES).map_err(storage)?.len()
    }
}
