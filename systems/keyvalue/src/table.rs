//! Operations on the tables of a transaction.
//!
//! A record is the time at which it expires (milliseconds since 1970, 8 bytes, the highest first; 0: never) and the value. What
//! expires stands in a second table too, by time and key, so that it is found without looking at everything.

use std::ops::Bound;
use std::time::{SystemTime, UNIX_EPOCH};

use redb::{ReadableTable, StorageError, Table, TableDefinition};

use crate::operation::{Bytes, Operation, Outcome, Outcomes};

/// By key.
pub const RECORDS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("records");
/// By time and key.
pub const EXPIRIES: TableDefinition<&[u8], ()> = TableDefinition::new("expiries");

type Records<'t> = Table<'t, &'static [u8], &'static [u8]>;
type Expiries<'t> = Table<'t, &'static [u8], ()>;
type Failable<T> = Result<T, StorageError>;

/// Milliseconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// A record taken apart.
fn parts(record: &[u8]) -> (u64, &[u8]) {
    let (time, value) = record.split_first_chunk().expect("a record begins with its time");
    (u64::from_be_bytes(*time), value)
}

fn has_expired(time: u64, now: u64) -> bool {
    time != 0 && time <= now
}

/// Reads a record: the time at which it expires, and its value.
fn look(
    records: &impl ReadableTable<&'static [u8], &'static [u8]>,
    key: &[u8],
    now: u64,
) -> Failable<Option<(u64, Bytes)>> {
    let found = records.get(key)?;
    let found = found.as_ref().map(|guard| parts(guard.value()));
    Ok(found.filter(|&(time, _)| !has_expired(time, now)).map(|(time, value)| (time, value.into())))
}

/// The first records behind a key, of those that begin with a prefix.
fn next(
    records: &impl ReadableTable<&'static [u8], &'static [u8]>,
    after: &[u8],
    prefix: &[u8],
    most: i64,
    now: u64,
    outcomes: &mut Outcomes,
) -> Failable<()> {
    let mut left = most;
    let begin = if after < prefix { Bound::Included(prefix) } else { Bound::Excluded(after) };
    for entry in records.range::<&[u8]>((begin, Bound::Unbounded))? {
        let (key, record) = entry?;
        if !key.value().starts_with(prefix) {
            break;
        }
        if left <= 0 || !outcomes.has_room() {
            outcomes.push(Outcome::Done);
            return Ok(());
        }
        let (time, value) = parts(record.value());
        if !has_expired(time, now) {
            outcomes.push(Outcome::Entry(key.value().into(), value.into()));
            left -= 1;
        }
    }
    outcomes.push(Outcome::Missing);
    Ok(())
}

/// Does what changes nothing; whether it was that.
pub fn read(
    records: &impl ReadableTable<&'static [u8], &'static [u8]>,
    operation: &Operation,
    now: u64,
    outcomes: &mut Outcomes,
) -> Failable<bool> {
    let outcome = match operation {
        _ if !operation.only_reads() => return Ok(false),
        _ if let Some(complaint) = operation.complaint() => Outcome::Refused(complaint),
        _ if !outcomes.has_room() => Outcome::Refused("that is too much at once".into()),
        Operation::Get { key } => {
            look(records, key, now)?.map_or(Outcome::Missing, |(_, x)| Outcome::Value(x))
        }
        Operation::Remaining { key } => match look(records, key, now)? {
            None => Outcome::Missing,
            Some((0, _)) => Outcome::Number(0),
            Some((time, _)) => Outcome::Number((time - now) as i64),
        },
        Operation::Next { after, prefix, most } => {
            next(records, after, prefix, *most, now, outcomes)?;
            return Ok(true);
        }
        _ => unreachable!("it doesn't only read"),
    };
    outcomes.push(outcome);
    Ok(true)
}

/// The tables, to be written.
pub struct Tables<'t> {
    pub records: Records<'t>,
    pub expiries: Expiries<'t>,
}

impl Tables<'_> {
    /// Does an operation.
    pub fn apply(&mut self, operation: &Operation, now: u64, outcomes: &mut Outcomes) -> Failable<()> {
        if !read(&self.records, operation, now, outcomes)? {
            outcomes.push(match operation.complaint() {
                Some(complaint) => Outcome::Refused(complaint),
                None => self.change(operation, now)?,
            });
        }
        Ok(())
    }

    fn change(&mut self, operation: &Operation, now: u64) -> Failable<Outcome> {
        let found = |key: &[u8]| look(&self.records, key, now);
        match operation {
            Operation::Set { key, x, lifetime } => self.put(key, x, moment(now, *lifetime)),
            Operation::Create { key, x, lifetime } => match found(key)? {
                None => self.put(key, x, moment(now, *lifetime)),
                Some((_, other)) => Ok(Outcome::Other(other)),
            },
            Operation::Delete { key } => self.delete(key, now),
            Operation::Add { key, n } => self.add(key, *n, now),
            Operation::Exchange { key, old, x } => match found(key)? {
                None => Ok(Outcome::Missing),
                Some((time, other)) if other == *old => self.put(key, x, time),
                Some((_, other)) => Ok(Outcome::Other(other)),
            },
            Operation::Expire { key, lifetime } => match found(key)? {
                None => Ok(Outcome::Missing),
                Some((_, x)) => self.put(key, &x, moment(now, *lifetime)),
            },
            Operation::Get { .. } | Operation::Remaining { .. } | Operation::Next { .. } => {
                unreachable!("it only reads")
            }
        }
    }

    fn put(&mut self, key: &[u8], x: &[u8], time: u64) -> Failable<Outcome> {
        let record = [&time.to_be_bytes(), x].concat();
        let old = self.records.insert(key, &*record)?.map_or(0, |old| parts(old.value()).0);
        if old != time {
            self.forget(old, key)?;
            if time != 0 {
                self.expiries.insert(&*timed(time, key), ())?;
            }
        }
        Ok(Outcome::Done)
    }

    fn delete(&mut self, key: &[u8], now: u64) -> Failable<Outcome> {
        let old = self.records.remove(key)?.map(|old| parts(old.value()).0);
        let Some(time) = old else { return Ok(Outcome::Missing) };
        self.forget(time, key)?;
        Ok(if has_expired(time, now) { Outcome::Missing } else { Outcome::Done })
    }

    fn add(&mut self, key: &[u8], n: i64, now: u64) -> Failable<Outcome> {
        let (time, old) = look(&self.records, key, now)?.unwrap_or((0, b"0".into()));
        let number = std::str::from_utf8(&old).ok().and_then(|old| old.parse::<i64>().ok());
        let Some(number) = number else { return Ok(Outcome::Refused("the value is no integer".into())) };
        let Some(sum) = number.checked_add(n) else {
            return Ok(Outcome::Refused("the sum is too large".into()));
        };
        self.put(key, sum.to_string().as_bytes(), time)?;
        Ok(Outcome::Number(sum))
    }

    /// It doesn't expire then any more.
    fn forget(&mut self, time: u64, key: &[u8]) -> Failable<()> {
        if time != 0 {
            self.expiries.remove(&*timed(time, key))?;
        }
        Ok(())
    }

    /// Deletes some of those that have expired; how many.
    pub fn sweep(&mut self, now: u64, most: usize) -> Failable<usize> {
        let end = (now + 1).to_be_bytes();
        let mut due = Vec::new();
        for entry in self.expiries.range::<&[u8]>(..&end[..])?.take(most) {
            due.push(entry?.0.value().to_vec());
        }
        for timed in &due {
            self.records.remove(&timed[8..])?;
            self.expiries.remove(&**timed)?;
        }
        Ok(due.len())
    }
}

/// When what lives so long expires; 0: never.
fn moment(now: u64, lifetime: i64) -> u64 {
    if lifetime <= 0 { 0 } else { now.saturating_add(lifetime as u64) }
}

fn timed(time: u64, key: &[u8]) -> Bytes {
    [&time.to_be_bytes(), key].concat()
}
