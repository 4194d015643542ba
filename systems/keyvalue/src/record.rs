//! How records lie in the file.
//!
//! A record is the time at which it expires (milliseconds since 1970; 0: never) and its place (8 bytes each, the
//! highest first), and the value. Places are numbers in the order in which keys were made: by them a scan knows how far
//! it is, whatever others do meanwhile. What expires stands in a table of its own, too, by time and key, so that it is
//! found without looking at everything.

use std::time::{SystemTime, UNIX_EPOCH};

use redb::{ReadableTable, StorageError, TableDefinition, TableError};

use crate::operation::Bytes;

/// By key.
pub const RECORDS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("records 2");
/// Keys by place.
pub const PLACES: TableDefinition<u64, &[u8]> = TableDefinition::new("places");
/// By time and key.
pub const EXPIRIES: TableDefinition<&[u8], ()> = TableDefinition::new("expiries");
/// Records without places, as earlier versions had them.
pub const OLD_RECORDS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("records");

/// What the file may say.
pub type Failable<T> = Result<T, StorageError>;

/// Milliseconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// A record taken apart.
#[derive(Clone, Copy, Debug)]
pub struct Record<'r> {
    /// When it expires, or 0.
    pub time: u64,
    /// Its place.
    pub place: u64,
    /// Its value.
    pub value: &'r [u8],
}

impl<'r> Record<'r> {
    /// Takes one apart.
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

    /// One that hasn't expired.
    pub fn living(bytes: &'r [u8], now: u64) -> Option<Record<'r>> {
        let record = Record::of(bytes);
        record.lives(now).then_some(record)
    }

    /// Whether it hasn't expired.
    pub fn lives(&self, now: u64) -> bool {
        self.time == 0 || self.time > now
    }

    /// Its bytes.
    pub fn bytes(&self) -> Bytes {
        [&self.time.to_be_bytes(), &self.place.to_be_bytes(), self.value].concat()
    }
}

/// What stands in the table of what expires.
pub fn timed(time: u64, key: &[u8]) -> Bytes {
    [&time.to_be_bytes(), key].concat()
}

/// The key of that.
pub fn key_of(timed: &[u8]) -> &[u8] {
    &timed[size_of::<u64>()..]
}

/// What is found of a record that is there and hasn't expired.
pub fn look<T>(
    records: &impl ReadableTable<&'static [u8], &'static [u8]>,
    key: &[u8],
    now: u64,
    find: impl FnOnce(Record) -> T,
) -> Failable<Option<T>> {
    let found = records.get(key)?;
    Ok(found.as_ref().and_then(|guard| Record::living(guard.value(), now)).map(find))
}

/// What keeps a table from being opened that is known to be there.
pub fn storage(error: TableError) -> StorageError {
    match error {
        TableError::Storage(error) => error,
        other => StorageError::Corrupted(other.to_string()),
    }
}
