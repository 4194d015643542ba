//! The layout of records in the file.
//!
//! A record is its expiry time (milliseconds since 1970; 0: never) and its place (8 bytes each, big-endian), and the
//! value. Places number the keys in the order in which they were made: they are a scan's cursor, which changes by other
//! clients don't disturb. Records that expire are also in a table ordered by time, so that expired ones are found
//! without looking at all.

use std::time::{SystemTime, UNIX_EPOCH};

use redb::{ReadableTable, StorageError, TableDefinition, TableError};

use crate::operation::Bytes;

/// Records by key.
pub const RECORDS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("records 2");
/// The keys by place.
pub const PLACES: TableDefinition<u64, &[u8]> = TableDefinition::new("places");
/// The expiry times with their keys.
pub const EXPIRIES: TableDefinition<&[u8], ()> = TableDefinition::new("expiries");
/// Records without places, of earlier versions.
pub const OLD_RECORDS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("records");

/// Fails as the file does.
pub type Failable<T> = Result<T, StorageError>;

/// Milliseconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// A parsed record.
#[derive(Clone, Copy, Debug)]
pub struct Record<'r> {
    /// Its expiry time, or 0.
    pub time: u64,
    /// Its place.
    pub place: u64,
    /// Its value.
    pub value: &'r [u8],
}

impl<'r> Record<'r> {
    /// Parses a record.
    pub fn of(bytes: &'r [u8]) -> Record<'r> {
        let mut rest = bytes;
        let mut number = || {
            let (number, behind) = rest.split_first_chunk().expect("a record begins with two numbers");
            rest = behind;
            u64::from_be_bytes(*number)
        };
        let (time, place) = (number(), number());
        Record { time, place, value: rest }
    }

    /// A record, unless it has expired.
    pub fn living(bytes: &'r [u8], now: u64) -> Option<Record<'r>> {
        let record = Record::of(bytes);
        record.lives(now).then_some(record)
    }

    /// Whether it hasn't expired.
    pub fn lives(&self, now: u64) -> bool {
        self.time == 0 || self.time > now
    }

    /// The record's bytes.
    pub fn bytes(&self) -> Bytes {
        [&self.time.to_be_bytes(), &self.place.to_be_bytes(), self.value].concat()
    }
}

/// An entry of the expiry table.
pub fn timed(time: u64, key: &[u8]) -> Bytes {
    [&time.to_be_bytes(), key].concat()
}

/// The key of such an entry.
pub fn key_of(timed: &[u8]) -> &[u8] {
    &timed[size_of::<u64>()..]
}

/// Looks up a record, unless it has expired.
pub fn look<T>(
    records: &impl ReadableTable<&'static [u8], &'static [u8]>,
    key: &[u8],
    now: u64,
    find: impl FnOnce(Record) -> T,
) -> Failable<Option<T>> {
    let found = records.get(key)?;
    Ok(found.as_ref().and_then(|guard| Record::living(guard.value(), now)).map(find))
}

/// An error of opening a table that exists.
pub fn storage(error: TableError) -> StorageError {
    match error {
        TableError::Storage(error) => error,
        other => StorageError::Corrupted(other.to_string()),
    }
}
