//! Executes reads in short steps, each of which gives some outcomes. All steps read one snapshot, so a slow client gets
//! consistent outcomes.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::ops::Bound;

use redb::{ReadableTable, ReadableTableMetadata};

use crate::operation::{Bytes, Outcome, Outcomes, PIECE, Read};
use crate::pattern::{is_like, prefix};
use crate::record::{Failable, Record, look};

/// The tables at one moment.
pub trait View {
    /// Records by key.
    type Records: ReadableTable<&'static [u8], &'static [u8]>;
    /// Keys by place.
    type Places: ReadableTable<u64, &'static [u8]>;
    /// The records.
    fn records(&self) -> &Self::Records;
    /// The keys by place.
    fn places(&self) -> Failable<&Self::Places>;
    /// How many of them expire.
    fn timed(&self) -> Failable<u64>;
}

/// Reads a view.
pub struct Reader<'v, V> {
    view: &'v V,
    /// Records that had expired by then are skipped.
    now: u64,
}

/// Reads that are executed one after the other.
#[derive(Debug, Default)]
pub struct Reading {
    reads: VecDeque<Read>,
    progress: Progress,
}

/// The progress of the first of them.
#[derive(Debug, Default)]
enum Progress {
    #[default]
    Begun,
    /// In a long value, at this place.
    At(usize, usize),
    /// Counting keys that match a pattern: the last key seen, and the count so far.
    Counted(Option<Bytes>, i64),
    /// Listing the counted keys: the last key listed, and how many are left.
    Told(Option<Bytes>, i64),
}

/// Records that a step looks at.
const STEP: i64 = 10_000;

impl Reading {
    /// Reads that haven't begun.
    pub fn of(reads: impl IntoIterator<Item = Read>) -> Reading {
        Reading { reads: reads.into_iter().collect(), progress: Progress::Begun }
    }

    /// How many of them aren't done.
    pub fn left(&self) -> usize {
        self.reads.len()
    }

    /// Continues until all is done, there are many outcomes, or some time has passed.
    pub fn step(&mut self, reader: &Reader<impl View>, outcomes: &mut Outcomes) -> Failable<()> {
        let mut looked = 0;
        while let Some(read) = self.reads.front()
            && !outcomes.is_full()
            && looked < STEP
        {
            looked += read.work().unwrap_or(STEP);
            match reader.read(read, std::mem::take(&mut self.progress), outcomes)? {
                Some(progress) => self.progress = progress,
                None => drop(self.reads.pop_front()),
            }
        }
        Ok(())
    }
}

impl<'v, V: View> Reader<'v, V> {
    /// A reader of a view at a time.
    pub fn of(view: &'v V, now: u64) -> Reader<'v, V> {
        Reader { view, now }
    }

    /// Executes a part of a read; `None`: it is done.
    fn read(&self, read: &Read, progress: Progress, outcomes: &mut Outcomes) -> Failable<Option<Progress>> {
        let whole = |_: &[u8]| (0, usize::MAX);
        let outcome = match read {
            Read::Get { key } => return self.value(key, whole, progress, outcomes),
            Read::Part { key, from, to } => {
                return self.value(key, |value| part(value.len(), *from, *to), progress, outcomes);
            }
            Read::Keys { pattern } => return self.keys(pattern, progress, outcomes),
            Read::Next { after, prefix, most } => self.next(after, prefix, *most, outcomes)?,
            Read::Scan { place, pattern, most } => self.scan(*place, pattern, *most, outcomes)?,
            Read::Length { key } => number(self.look(key, |record| record.value.len() as i64)?),
            Read::Expiry { key } => number(self.look(key, |record| match record.time {
                0 => -1,
                time => time as i64,
            })?),
            Read::Remaining { key } => number(self.look(key, |record| match record.time {
                0 => -1,
                time => (time - self.now) as i64,
            })?),
            Read::Count => Outcome::Number(self.view.records().len()? as i64),
            Read::Nothing => Outcome::Done,
            Read::Timed => Outcome::Number(self.view.timed()? as i64),
            Read::Random => self.random()?.map_or(Outcome::Missing, Outcome::Key),
        };
        outcomes.push(outcome);
        Ok(None)
    }

    /// Executes a read as a whole, up to `most` bytes of outcomes.
    pub fn read_whole(&self, read: &Read, outcomes: &mut Outcomes, most: usize) -> Failable<()> {
        let mut progress = Some(Progress::Begun);
        while let Some(so_far) = progress
            && outcomes.size() <= most
        {
            let mut some = Outcomes::default();
            progress = self.read(read, so_far, &mut some)?;
            outcomes.append(some);
        }
        Ok(())
    }

    /// About how many bytes its outcomes will have.
    pub fn size(&self, read: &Read) -> Failable<usize> {
        Ok(match read {
            Read::Get { key } => self.look(key, |record| record.value.len())?.unwrap_or(0),
            Read::Part { key, from, to } => {
                let part = self.look(key, |record| part(record.value.len(), *from, *to))?;
                part.map_or(0, |(from, end)| end - from)
            }
            _ => 0,
        })
    }

    fn look<T>(&self, key: &[u8], find: impl FnOnce(Record) -> T) -> Failable<Option<T>> {
        look(self.view.records(), key, self.now, find)
    }

    /// A value or a part of it, in pieces if it is long.
    fn value(
        &self,
        key: &[u8],
        wanted: impl Fn(&[u8]) -> (usize, usize),
        progress: Progress,
        outcomes: &mut Outcomes,
    ) -> Failable<Option<Progress>> {
        let found = self.look(key, |record| {
            let (from, end) = match progress {
                Progress::At(from, end) => (from, end),
                _ => wanted(record.value),
            };
            let wanted = &record.value[from..end.min(record.value.len())];
            let length = wanted.len().min(PIECE);
            (wanted.len(), wanted[..length].to_vec(), from + length)
        })?;
        let is_begun = matches!(progress, Progress::At(..));
        let Some((length, piece, at)) = found else {
            outcomes.push(Outcome::Missing);
            return Ok(None);
        };
        if !is_begun && length <= PIECE {
            outcomes.push(Outcome::Value(piece));
            return Ok(None);
        }
        if !is_begun {
            outcomes.push(Outcome::Long(length));
        }
        let is_last = piece.len() == length;
        let end = at - piece.len() + length;
        outcomes.push(Outcome::Piece(piece));
        Ok((!is_last).then_some(Progress::At(at, end)))
    }

    /// Visits the records behind a key that begin with a prefix, with their bytes, as long as `take` wants more.
    fn walk(
        &self,
        after: Option<&[u8]>,
        prefix: &[u8],
        mut take: impl FnMut(&[u8], Record) -> bool,
    ) -> Failable<bool> {
        let begin = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        for entry in self.view.records().range::<&[u8]>((begin, Bound::Unbounded))? {
            let (key, record) = entry?;
            if !key.value().starts_with(prefix) {
                break;
            }
            if !take(key.value(), Record::of(record.value())) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn next(&self, after: &[u8], prefix: &[u8], most: i64, outcomes: &mut Outcomes) -> Failable<Outcome> {
        let mut left = most;
        let is_end = self.walk(Some(after).filter(|after| !after.is_empty()), prefix, |key, record| {
            if left <= 0 || outcomes.is_full() {
                return false;
            }
            if record.lives(self.now) {
                outcomes.push(Outcome::Entry(key.into(), record.value.into()));
                left -= 1;
            }
            true
        })?;
        Ok(if is_end { Outcome::Missing } else { Outcome::Done })
    }

    /// Counts the keys that match a pattern, and then lists them.
    fn keys(
        &self,
        pattern: &[u8],
        progress: Progress,
        outcomes: &mut Outcomes,
    ) -> Failable<Option<Progress>> {
        let (after, mut count, is_told) = match progress {
            Progress::Told(after, left) => (after, left, true),
            Progress::Counted(after, count) => (after, count, false),
            _ => (None, 0, false),
        };
        let (mut looked, mut last) = (0, None);
        let is_end = self.walk(after.as_deref(), prefix(pattern), |key, record| {
            if looked >= STEP || outcomes.is_full() || is_told && count == 0 {
                return false;
            }
            (looked, last) = (looked + 1, Some(Bytes::from(key)));
            if record.lives(self.now) && is_like(key, pattern) {
                if is_told {
                    outcomes.push(Outcome::Key(key.into()));
                }
                count += if is_told { -1 } else { 1 };
            }
            true
        })?;
        let last = last.or(after);
        Ok(match (is_told, is_end) {
            (true, _) => (count > 0).then_some(Progress::Told(last, count)),
            (false, false) => Some(Progress::Counted(last, count)),
            (false, true) => {
                outcomes.push(Outcome::Number(count));
                (count > 0).then_some(Progress::Told(None, count))
            }
        })
    }

    /// Lists keys before a place that match a pattern; returns the place from which more are left.
    fn scan(&self, place: i64, pattern: &[u8], most: i64, outcomes: &mut Outcomes) -> Failable<Outcome> {
        let end = if place > 0 { Bound::Excluded(place as u64) } else { Bound::Unbounded };
        let (mut left, mut last) = (most, 0);
        for entry in self.view.places()?.range::<u64>((Bound::Unbounded, end))?.rev() {
            let (place, key) = entry?;
            if left <= 0 || outcomes.is_full() {
                return Ok(Outcome::Number(last));
            }
            (left, last) = (left - 1, place.value() as i64);
            if is_like(key.value(), pattern) && self.look(key.value(), |_| ())?.is_some() {
                outcomes.push(Outcome::Key(key.value().into()));
            }
        }
        Ok(Outcome::Number(0))
    }

    /// A random key.
    fn random(&self) -> Failable<Option<Bytes>> {
        let places = self.view.places()?;
        let first = places.first()?.map_or(0, |(place, _)| place.value());
        let last = places.last()?.map_or(0, |(place, _)| place.value());
        let begin = first + RandomState::new().hash_one(self.now) % (last - first + 1);
        for range in [begin..=last, first..=begin] {
            for entry in places.range::<u64>(range)? {
                let key = entry?.1;
                if self.look(key.value(), |_| ())?.is_some() {
                    return Ok(Some(key.value().into()));
                }
            }
        }
        Ok(None)
    }
}

fn number(found: Option<i64>) -> Outcome {
    found.map_or(Outcome::Missing, Outcome::Number)
}

/// The bounds of a part of something of that length; from -1 down, places count from its end.
fn part(length: usize, from: i64, to: i64) -> (usize, usize) {
    let length = length as i64;
    if from < 0 && to < 0 && from > to {
        return (0, 0);
    }
    let place = |place: i64| if place < 0 { (length + place).max(0) } else { place };
    let (from, end) = (place(from), place(to).min(length - 1) + 1);
    if from >= end { (0, 0) } else { (from as usize, end as usize) }
}
