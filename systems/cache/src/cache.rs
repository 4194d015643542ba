//! Executes commands on the items, and keeps the handler's ready answers up to date. [`metas`] has the meta commands,
//! [`statistics`] the counters.

mod metas;
mod statistics;

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use drystone_handlers::time_now;

use crate::command::{Command, Storing, Way};
use crate::shadow::{self, Shadow};
use crate::store::{Item, NEVER, Store};
use crate::{NAME, words};

const SECOND: u64 = 1_000_000_000;
/// Expiry times below thirty days are relative to now.
const FROM_NOW: i32 = 60 * 60 * 24 * 30;
/// How many items eviction passes over, at most, to find one that the handler wasn't asked for lately.
const SECOND_CHANCES: usize = 16;

/// See the head of this file.
pub struct Cache {
    store: Store,
    shadow: Option<Shadow>,
    versions: u64,
    begin: u64,
    counts: Counts,
    /// Items stored until then expire then: a client has flushed the cache.
    flushed: u64,
}

/// Counters since the start, or since `stats reset`.
#[derive(Default)]
struct Counts {
    gets: u64,
    hits: u64,
    sets: u64,
    touches: u64,
    flushes: u64,
    evictions: u64,
    /// The handler's counters at the last reset.
    before: (u64, u64),
}

/// The outcome of storing a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Stored,
    NotStored,
    /// The item has another version.
    Exists,
    NotFound,
}

/// The outcome of changing a number.
enum Counted {
    Is(u64),
    NotFound,
    Exists,
    NoNumber,
}

impl Cache {
    /// A cache for `most` bytes of items, with the handler's answers, if there is a handler.
    pub fn new(most: usize, shadow: Option<Shadow>) -> Cache {
        let (store, counts) = (Store::new(most), Counts::default());
        Cache { store, shadow, versions: 0, begin: time_now(), counts, flushed: 0 }
    }

    /// Executes a command that neither carries nor returns a value, and writes the answer.
    pub fn execute(&mut self, command: &Command, out: &mut Vec<u8>) {
        let said: &[u8] = match command {
            Command::Delete(key) if self.remove_live(key) => b"DELETED\r\n",
            Command::Touch(key, expiry) if self.touch(key, *expiry) => b"TOUCHED\r\n",
            Command::Delete(_) | Command::Touch(..) => b"NOT_FOUND\r\n",
            Command::Count { key, by, up } => match self.count(key, None, *by, *up) {
                Counted::Is(number) => return write(out, format_args!("{number}\r\n")),
                Counted::NotFound | Counted::Exists => b"NOT_FOUND\r\n",
                Counted::NoNumber => return write(out, format_args!("{NO_NUMBER}\r\n")),
            },
            Command::Flush(delay) => {
                self.flush(*delay);
                b"OK\r\n"
            }
            Command::Statistics(part) => return self.statistics(*part, out),
            Command::Version => return write(out, format_args!("VERSION {NAME}\r\n")),
            Command::Verbosity => b"OK\r\n",
            Command::MetaDelete(meta) => return self.meta_delete(meta, out),
            Command::MetaTell(key) => return self.meta_tell(key, out),
            Command::MetaNothing => b"MN\r\n",
            Command::Get { .. }
            | Command::MetaGet(_)
            | Command::MetaCount(_)
            | Command::Store(_)
            | Command::Quit => b"",
        };
        out.extend_from_slice(said);
    }

    /// Writes an item, if there is one. If its value is longer than `most`, nothing is done but its length returned.
    ///
    /// # Errors
    /// The value's length.
    pub fn get(
        &mut self,
        key: &[u8],
        with_version: bool,
        touch: Option<i32>,
        most: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), usize> {
        let item = self.live(key);
        if let Some(item) = item.as_deref().filter(|item| item.value.len() > most) {
            return Err(item.value.len());
        }
        self.counts.gets += 1;
        self.counts.touches += u64::from(touch.is_some());
        let Some(item) = self.live(key) else { return Ok(()) };
        (item.is_hit, item.used) = (true, time_now());
        write_item(key, item, with_version, out);
        self.counts.hits += 1;
        // It is returned even if the new time makes it expire.
        if let Some(expiry) = touch {
            self.set_expiry(key, expiry);
        }
        Ok(())
    }

    /// Stores a value, and writes the answer.
    pub fn put(&mut self, storing: &Storing, value: Vec<u8>, out: &mut Vec<u8>) {
        if storing.meta.is_some() {
            return self.meta_put(storing, value, out);
        }
        let said: &[u8] = match self.stored(storing, value) {
            _ if storing.is_quiet => b"",
            Outcome::Stored => b"STORED\r\n",
            Outcome::NotStored => b"NOT_STORED\r\n",
            Outcome::Exists => b"EXISTS\r\n",
            Outcome::NotFound => b"NOT_FOUND\r\n",
        };
        out.extend_from_slice(said);
    }

    /// The value for a key was too long to be stored: the old item is removed, because it is out of date.
    pub fn forget(&mut self, key: &[u8]) {
        if self.store.peek(key).is_some() {
            self.remove(key);
        }
    }

    fn stored(&mut self, storing: &Storing, value: Vec<u8>) -> Outcome {
        self.counts.sets += 1;
        let mut item =
            Item { flags: storing.flags, expires: self.expires(storing.expiry), value, ..Item::default() };
        let (meta, key) = (storing.meta.as_deref(), &storing.key);
        item.is_binary = meta.is_some_and(|meta| meta.is_binary);
        let before = self.live(key);
        let version = storing
            .version
            .filter(|version| *version != 0 || !matches!(storing.way, Way::Append | Way::Prepend));
        if let (Some(version), Some(before)) = (version, before.as_deref()) {
            match storing.way {
                _ if before.version == version => {}
                // Something old may still be put there, as what it is.
                Way::Set | Way::Replace
                    if version != 0 && meta.is_some_and(|meta| meta.is_stale) && version < before.version =>
                {
                    (item.expires, item.is_stale, item.is_sent) = (before.expires, true, before.is_sent);
                }
                Way::Add => {}
                _ => return Outcome::Exists,
            }
        }
        let joined = |before: &Item, left: &[u8], right: &[u8]| {
            let is_short = crate::fits(key.len(), before.flags, left.len() + right.len());
            is_short.then(|| Item {
                value: [left, right].concat(),
                is_binary: item.is_binary,
                ..fresh(before)
            })
        };
        let item = match (storing.way, before) {
            (Way::Add, Some(_)) => return Outcome::NotStored,
            (Way::Set | Way::Replace, None) if version.is_some() => return Outcome::NotFound,
            (Way::Set | Way::Add, _) | (Way::Replace, Some(_)) => Some(item),
            (Way::Append, Some(before)) => joined(before, &before.value, &item.value),
            (Way::Prepend, Some(before)) => joined(before, &item.value, &before.value),
            (Way::Replace | Way::Append | Way::Prepend, None) => return Outcome::NotStored,
        };
        // If the result is too long, the old item stays.
        let Some(item) = item else { return Outcome::NotStored };
        self.keep(key, item);
        Outcome::Stored
    }

    /// Adds to the item's number or subtracts from it, if the item has that version.
    fn count(&mut self, key: &[u8], version: Option<u64>, by: u64, up: bool) -> Counted {
        let Some(item) = self.live(key) else { return Counted::NotFound };
        if item.value.is_empty() {
            return Counted::NoNumber;
        }
        if version.is_some_and(|version| version != item.version) {
            return Counted::Exists;
        }
        // Numbers are parsed as words of a line, so the value gets a line's end.
        let text = [&item.value[..], b"\r"].concat();
        let Some(number) = words::unsigned(&text) else { return Counted::NoNumber };
        let number = if up { number.wrapping_add(by) } else { number.saturating_sub(by) };
        let text = number.to_string();
        // As in memcached, a shorter number is padded to the old length; a longer one makes a new item.
        let changed = match text.len() > item.value.len() {
            true => Item { value: text.into_bytes(), ..fresh(item) },
            false => Item { value: format!("{text:<0$}", item.value.len()).into_bytes(), ..item.clone() },
        };
        self.keep(key, changed);
        Counted::Is(number)
    }

    fn touch(&mut self, key: &[u8], expiry: i32) -> bool {
        self.counts.touches += 1;
        let Some(item) = self.live(key) else { return false };
        item.is_hit = true;
        self.set_expiry(key, expiry);
        true
    }

    fn set_expiry(&mut self, key: &[u8], expiry: i32) {
        let expires = self.expires(expiry);
        if let Some(item) = self.store.get(key) {
            item.expires = expires;
            self.place(key, false);
        }
    }

    /// The item, unless it has expired; an expired one is removed.
    fn live(&mut self, key: &[u8]) -> Option<&mut Item> {
        let now = time_now();
        if self.store.peek(key).is_some_and(|item| ends(item, self.flushed) <= now) {
            self.remove(key);
        }
        self.store.get(key)
    }

    fn remove_live(&mut self, key: &[u8]) -> bool {
        let is_there = self.live(key).is_some();
        if is_there {
            self.remove(key);
        }
        is_there
    }

    /// Stores an item as a new version.
    fn keep(&mut self, key: &[u8], item: Item) {
        self.versions += 1;
        let (version, now) = (self.versions, time_now());
        let is_new = self.store.peek(key).is_none();
        self.store.put(key, Item { version, stored: now, used: now, ..item });
        self.place(key, is_new);
        self.make_room();
    }

    /// Updates the handler's answer for a key. `is_new`: the handler has none.
    fn place(&mut self, key: &[u8], is_new: bool) {
        let (Some(shadow), Some(item)) = (&mut self.shadow, self.store.get(key)) else { return };
        // Saves what the handler knows of requests for the item: the update would lose it.
        (item.is_hit, item.used) = (is_hit(shadow, key, item), used(shadow, key, item));
        item.placed = time_now();
        let mut answer = Vec::new();
        if item.value.len() <= shadow::LONGEST {
            write_item(key, item, false, &mut answer);
            answer.extend_from_slice(b"END\r\n");
        }
        shadow.put(key, is_new, &answer, ends(item, self.flushed), item.placed);
    }

    fn remove(&mut self, key: &[u8]) {
        self.store.remove(key);
        if let Some(shadow) = &mut self.shadow {
            shadow.remove(key);
        }
    }

    fn make_room(&mut self) {
        let mut chances = SECOND_CHANCES;
        while let Some(key) = self.store.too_much().map(<[u8]>::to_vec) {
            // Only the handler knows when it was asked for the key.
            let asked = self.shadow.as_ref().and_then(|shadow| shadow.asked(&key));
            if chances > 0 && asked.is_some_and(|asked| time_now() - asked < SECOND) {
                chances -= 1;
                self.store.promote(&key);
                continue;
            }
            self.counts.evictions += 1;
            self.remove(&key);
        }
    }

    fn flush(&mut self, delay: i32) {
        self.counts.flushes += 1;
        let now = time_now();
        let at = if delay <= 0 { now } else { self.expires(delay).max(now) };
        self.flushed = at;
        // Clients may count versions: memcached counts this as one.
        self.versions += u64::from(at <= now);
        let keys = if at <= now || self.shadow.is_some() { self.store.keys() } else { Vec::new() };
        for key in keys {
            if at <= now {
                self.remove(&key);
            } else {
                self.place(&key, false);
            }
        }
    }

    /// The time, by the machine's clock, that a client's expiry time means.
    fn expires(&self, expiry: i32) -> u64 {
        let seconds = match expiry {
            0 => return NEVER,
            ..0 => return 0,
            1..=FROM_NOW => i64::from(expiry),
            _ => {
                let today = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
                i64::from(expiry) - today as i64
            }
        };
        let Ok(seconds) = u64::try_from(seconds) else { return 0 };
        time_now().saturating_add(seconds.saturating_mul(SECOND))
    }
}

const NO_NUMBER: &str = "CLIENT_ERROR cannot increment or decrement non-numeric value";

/// A copy of the item without its history: hits and staleness.
fn fresh(item: &Item) -> Item {
    let Item { flags, expires, .. } = *item;
    Item { flags, expires, ..Item::default() }
}

/// When an item expires, given the time of the last flush.
fn ends(item: &Item, flushed: u64) -> u64 {
    if item.stored <= flushed { item.expires.min(flushed) } else { item.expires }
}

/// Whether anyone has asked for an item, through the handler or this process.
fn is_hit(shadow: &Shadow, key: &[u8], item: &Item) -> bool {
    item.is_hit || shadow.asked(key).is_some_and(|asked| item.placed > 0 && asked > item.placed)
}

/// When an item was last asked for.
fn used(shadow: &Shadow, key: &[u8], item: &Item) -> u64 {
    match shadow.asked(key).filter(|_| item.placed > 0) {
        Some(asked) if asked > item.placed => item.used.max(asked),
        _ => item.used,
    }
}

fn write(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

fn write_item(key: &[u8], item: &Item, with_version: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(b"VALUE ");
    out.extend_from_slice(key);
    write(out, format_args!(" {} {}", item.flags, item.value.len()));
    if with_version {
        write(out, format_args!(" {}", item.version));
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(&item.value);
    out.extend_from_slice(b"\r\n");
}
