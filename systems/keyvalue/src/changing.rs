//! Applies changes to the tables of a transaction.

use std::cell::OnceCell;

use redb::{ReadableTable, ReadableTableMetadata, Table, TableError, WriteTransaction};

use crate::operation::{Bytes, Change, Condition, Expires, Only, Outcome, Outcomes, TOO_LONG};
use crate::reading::View;
use crate::record::{EXPIRIES, Failable, PLACES, RECORDS, Record, key_of, look, storage, timed};
use crate::watch::{Watch, Watches};

type Records<'t> = Table<'t, &'static [u8], &'static [u8]>;
type Places<'t> = Table<'t, u64, &'static [u8]>;
type Expiries<'t> = Table<'t, &'static [u8], ()>;

/// The error for a value that is no number.
const NO_NUMBER: &str = "value is not an integer or out of range";

/// The tables, open for writing.
pub struct Tables<'t> {
    transaction: &'t WriteTransaction,
    records: Records<'t>,
    /// Opened when first needed, which is rare.
    places: OnceCell<Places<'t>>,
    /// Likewise.
    expiries: OnceCell<Expiries<'t>>,
    /// The time by which expired records are gone.
    pub now: u64,
    /// The longest value in bytes.
    largest: usize,
    /// What clients want to know of.
    watches: &'t Watches,
    /// Whether there is something to be committed.
    pub has_changed: bool,
}

impl<'t> View for Tables<'t> {
    type Records = Records<'t>;
    type Places = Places<'t>;

    fn records(&self) -> &Records<'t> {
        &self.records
    }

    fn places(&self) -> Failable<&Places<'t>> {
        if self.places.get().is_none() {
            let _ = self.places.set(self.transaction.open_table(PLACES).map_err(storage)?);
        }
        Ok(self.places.get().expect("it was opened"))
    }

    fn timed(&self) -> Failable<u64> {
        self.expiries()?.len()
    }
}

impl<'t> Tables<'t> {
    /// Opens the tables of a transaction.
    pub fn open(
        transaction: &'t WriteTransaction,
        watches: &'t Watches,
        largest: usize,
        now: u64,
    ) -> Result<Tables<'t>, TableError> {
        let (records, places, expiries) =
            (transaction.open_table(RECORDS)?, OnceCell::new(), OnceCell::new());
        Ok(Tables { transaction, records, places, expiries, now, largest, watches, has_changed: false })
    }

    fn expiries(&self) -> Failable<&Expiries<'t>> {
        if self.expiries.get().is_none() {
            let _ = self.expiries.set(self.transaction.open_table(EXPIRIES).map_err(storage)?);
        }
        Ok(self.expiries.get().expect("it was opened"))
    }

    fn places_mut(&mut self) -> Failable<&mut Places<'t>> {
        self.places()?;
        Ok(self.places.get_mut().expect("it was opened"))
    }

    fn expiries_mut(&mut self) -> Failable<&mut Expiries<'t>> {
        self.expiries()?;
        Ok(self.expiries.get_mut().expect("it was opened"))
    }

    /// Deletes all records.
    pub fn cleared(self) -> Result<Tables<'t>, TableError> {
        for key in self.watches.keys() {
            if self.is_there(&key)? {
                self.watches.touch(&key);
            }
        }
        let Tables { transaction, watches, largest, now, .. } = self;
        drop((self.records, self.places, self.expiries));
        transaction.delete_table(RECORDS)?;
        transaction.delete_table(PLACES)?;
        transaction.delete_table(EXPIRIES)?;
        let tables = Tables { has_changed: true, ..Tables::open(transaction, watches, largest, now)? };
        // All tables are made, so that readers can open them.
        tables.places()?;
        tables.expiries()?;
        Ok(tables)
    }

    /// Applies a change; `room` limits the bytes of old values in its outcome.
    pub fn apply(
        &mut self,
        change: &Change,
        watch: Option<&std::sync::Arc<Watch>>,
        room: usize,
        outcomes: &mut Outcomes,
    ) -> Failable<()> {
        if let Some(complaint) = change.complaint(self.largest) {
            outcomes.push(Outcome::Refused(complaint));
            return Ok(());
        }
        let outcome = match change {
            Change::Set { key, x, only, expires } => self.set(key, x, *only, *expires)?,
            Change::Swap { key, x, only, expires } => {
                return self.giving(key, room, outcomes, |tables| {
                    tables.set(key, x, *only, *expires)?;
                    Ok(())
                });
            }
            Change::Take { key } => {
                return self.giving(key, room, outcomes, |tables| {
                    tables.delete(key)?;
                    Ok(())
                });
            }
            Change::Touch { key, expires } => {
                return self.giving(key, room, outcomes, |tables| {
                    tables.expire(key, *expires, Condition::default())?;
                    Ok(())
                });
            }
            Change::Delete { key } => self.delete(key)?,
            Change::Add { key, n } => self.add(key, *n)?,
            Change::Append { key, x } => self.append(key, x)?,
            Change::Overlay { key, at, x } => self.overlay(key, *at, x)?,
            Change::Exchange { key, old, x } => self.exchange(key, old, x)?,
            Change::Expire { key, expires, condition } => self.expire(key, *expires, *condition)?,
            Change::Rename { key, new, only } => self.copy(key, new, *only, true)?,
            Change::Copy { key, new, only } => self.copy(key, new, *only, false)?,
            Change::SetAll { pairs, only } => self.set_all(pairs, *only)?,
            Change::Clear => Outcome::Done, // what makes tables anew does it
            Change::Watch { key } => {
                let expires = look(&self.records, key, self.now, |record| record.time)?;
                watch.inspect(|watch| watch.add(key, expires.unwrap_or(0)));
                Outcome::Done
            }
            Change::Unwatch => {
                watch.inspect(|watch| watch.clear());
                Outcome::Done
            }
        };
        outcomes.push(outcome);
        Ok(())
    }

    fn found(&self, key: &[u8]) -> Failable<Option<(u64, Bytes)>> {
        look(&self.records, key, self.now, |record| (record.time, record.value.into()))
    }

    fn is_there(&self, key: &[u8]) -> Failable<bool> {
        Ok(look(&self.records, key, self.now, |_| ())?.is_some())
    }

    /// Returns the old value, and then changes it.
    fn giving(
        &mut self,
        key: &[u8],
        room: usize,
        outcomes: &mut Outcomes,
        change: impl FnOnce(&mut Self) -> Failable<()>,
    ) -> Failable<()> {
        let old = look(&self.records, key, self.now, |record| {
            (record.value.len() <= room).then(|| Bytes::from(record.value))
        })?;
        match old {
            Some(None) => {
                outcomes.push(Outcome::Refused("too many long answers are under way, try again".into()));
                return Ok(());
            }
            Some(Some(old)) => outcomes.push_value(old),
            None => outcomes.push(Outcome::Missing),
        }
        change(self)
    }

    /// Puts a record, whether or not there was one.
    fn put(&mut self, key: &[u8], value: &[u8], time: u64) -> Failable<()> {
        let old = match self.records.get_mut(key)? {
            None => None,
            Some(mut old) => {
                let Record { time: old_time, place, value: old_value } = Record::of(old.value());
                // A longer record might overfill its page, which `insert` splits.
                let fits = value.len() <= old_value.len();
                if fits {
                    old.insert(&*Record { time, place, value }.bytes())?;
                }
                Some((old_time, place, fits))
            }
        };
        let (old_time, place, is_put) = match old {
            Some(old) => old,
            None => (0, self.new_place(key)?, false),
        };
        if !is_put {
            self.records.insert(key, &*Record { time, place, value }.bytes())?;
        }
        if old_time != time {
            self.forget_time(old_time, key)?;
            if time != 0 {
                self.expiries_mut()?.insert(&*timed(time, key), ())?;
            }
        }
        self.changed(key);
        Ok(())
    }

    fn new_place(&mut self, key: &[u8]) -> Failable<u64> {
        let places = self.places_mut()?;
        let place = 1 + places.last()?.map_or(0, |(place, _)| place.value());
        places.insert(place, key)?;
        Ok(place)
    }

    fn changed(&mut self, key: &[u8]) {
        self.has_changed = true;
        self.watches.touch(key);
    }

    /// Removes the record's expiry time.
    fn forget_time(&mut self, time: u64, key: &[u8]) -> Failable<()> {
        if time != 0 {
            self.expiries_mut()?.remove(&*timed(time, key))?;
        }
        Ok(())
    }

    fn set(&mut self, key: &[u8], x: &[u8], only: Only, expires: Expires) -> Failable<Outcome> {
        let mut before = 0;
        if only != Only::Always || expires == Expires::AsBefore {
            let time = look(&self.records, key, self.now, |record| record.time)?;
            if !only.allows(time.is_some()) {
                return Ok(Outcome::Missing);
            }
            before = time.unwrap_or(0);
        }
        self.put(key, x, expires.time(self.now, before))?;
        Ok(Outcome::Done)
    }

    fn delete(&mut self, key: &[u8]) -> Failable<Outcome> {
        let old = self.records.remove(key)?.map(|old| {
            let old = Record::of(old.value());
            (old.time, old.place, old.lives(self.now))
        });
        let Some((time, place, lives)) = old else { return Ok(Outcome::Missing) };
        self.places_mut()?.remove(place)?;
        self.forget_time(time, key)?;
        self.has_changed = true;
        if !lives {
            return Ok(Outcome::Missing);
        }
        self.changed(key);
        Ok(Outcome::Done)
    }

    fn add(&mut self, key: &[u8], n: i64) -> Failable<Outcome> {
        let (time, old) =
            match look(&self.records, key, self.now, |record| (record.time, number(record.value)))? {
                Some((_, None)) => return Ok(Outcome::Refused(NO_NUMBER.into())),
                Some((time, Some(old))) => (time, old),
                None => (0, 0),
            };
        let Some(sum) = old.checked_add(n) else {
            return Ok(Outcome::Refused("increment or decrement would overflow".into()));
        };
        self.put(key, sum.to_string().as_bytes(), time)?;
        Ok(Outcome::Number(sum))
    }

    fn append(&mut self, key: &[u8], x: &[u8]) -> Failable<Outcome> {
        let (time, mut value) = self.found(key)?.unwrap_or_default();
        value.extend_from_slice(x);
        self.put_longer(key, &value, time)
    }

    fn overlay(&mut self, key: &[u8], at: i64, x: &[u8]) -> Failable<Outcome> {
        if x.is_empty() {
            let length = look(&self.records, key, self.now, |record| record.value.len())?;
            return Ok(Outcome::Number(length.unwrap_or(0) as i64));
        }
        let end = usize::try_from(at).ok().and_then(|at| at.checked_add(x.len()));
        let Some(end) = end.filter(|&end| end <= self.largest) else {
            return Ok(Outcome::Refused(TOO_LONG.into()));
        };
        let (time, mut value) = self.found(key)?.unwrap_or_default();
        value.resize(value.len().max(end), 0);
        value[end - x.len()..end].copy_from_slice(x);
        self.put_longer(key, &value, time)
    }

    /// Puts a longer value; returns its length.
    fn put_longer(&mut self, key: &[u8], value: &[u8], time: u64) -> Failable<Outcome> {
        if value.len() > self.largest {
            return Ok(Outcome::Refused(TOO_LONG.into()));
        }
        self.put(key, value, time)?;
        Ok(Outcome::Number(value.len() as i64))
    }

    fn exchange(&mut self, key: &[u8], old: &[u8], x: &[u8]) -> Failable<Outcome> {
        let found = look(&self.records, key, self.now, |record| {
            (record.time, (record.value != old).then(|| record.value.into()))
        })?;
        match found {
            None => Ok(Outcome::Missing),
            Some((_, Some(other))) => Ok(Outcome::Other(other)),
            Some((time, None)) => {
                self.put(key, x, time)?;
                Ok(Outcome::Done)
            }
        }
    }

    fn expire(&mut self, key: &[u8], expires: Expires, condition: Condition) -> Failable<Outcome> {
        let found = look(&self.records, key, self.now, |record| {
            let time = expires.time(self.now, record.time);
            // A value is copied only if it is put again.
            let value = (time != record.time).then(|| Bytes::from(record.value));
            (record.time, time, value)
        })?;
        let Some((old, time, value)) = found else { return Ok(Outcome::Missing) };
        if !condition.holds(old, time) {
            return Ok(Outcome::Missing);
        }
        if time != 0 && time <= self.now {
            return self.delete(key);
        }
        match value {
            Some(value) => self.put(key, &value, time)?,
            None => self.watches.touch(key),
        }
        Ok(Outcome::Done)
    }

    /// Copies a key's record to another key, or moves it there.
    fn copy(&mut self, key: &[u8], new: &[u8], only: Only, moves: bool) -> Failable<Outcome> {
        let Some((time, value)) = self.found(key)? else { return Ok(Outcome::Missing) };
        if !only.allows(self.is_there(new)?) {
            return Ok(Outcome::Other(Bytes::new()));
        }
        if key != new {
            // The copy is a new record, so the former one is deleted.
            self.delete(new)?;
            self.put(new, &value, time)?;
            if moves {
                self.delete(key)?;
            }
        }
        Ok(Outcome::Done)
    }

    fn set_all(&mut self, pairs: &[(Bytes, Bytes)], only: Only) -> Failable<Outcome> {
        if only != Only::Always {
            for (key, _) in pairs {
                if !only.allows(self.is_there(key)?) {
                    return Ok(Outcome::Missing);
                }
            }
        }
        for (key, x) in pairs {
            self.put(key, x, 0)?;
        }
        Ok(Outcome::Done)
    }

    /// Deletes some expired records; returns whether there were any.
    pub fn sweep(&mut self, most: usize) -> Failable<bool> {
        let end = (self.now + 1).to_be_bytes();
        let mut due = Vec::new();
        for entry in self.expiries()?.range::<&[u8]>(..&end[..])?.take(most) {
            due.push(entry?.0.value().to_vec());
        }
        for timed in &due {
            self.delete(key_of(timed))?;
        }
        Ok(!due.is_empty())
    }
}

/// A number in the one spelling that Redis accepts: its canonical one.
fn number(x: &[u8]) -> Option<i64> {
    let number = std::str::from_utf8(x).ok()?.parse::<i64>().ok()?;
    (number.to_string().as_bytes() == x).then_some(number)
}
