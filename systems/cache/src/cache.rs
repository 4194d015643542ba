//! What commands do, to the items and to the answers that the handler gives.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use drystone_handlers::time_now;

use crate::command::{Command, Storing, Way};
use crate::shadow::Shadow;
use crate::store::{Item, NEVER, Store};

const SECOND: u64 = 1_000_000_000;
/// Times to expire at are from now on, if they are less than that: thirty days.
const FROM_NOW: i64 = 60 * 60 * 24 * 30;
/// What is gone through for something that the handler wasn't asked for lately, at most.
const SECOND_CHANCES: usize = 16;

/// See the head of this file.
pub struct Cache {
    store: Store,
    shadow: Option<Shadow>,
    versions: u64,
    begin: u64,
    counts: Counts,
    /// Later items expire then at the latest: everybody was told to.
    flushed: u64,
}

/// Since the beginning, or since somebody began anew.
#[derive(Default)]
struct Counts {
    gets: u64,
    hits: u64,
    sets: u64,
    evictions: u64,
    /// Those of the handler that aren't counted.
    before: (u64, u64),
}

type Said = &'static [u8];

impl Cache {
    /// With room for so many bytes of items, and a handler's answers, if there is one.
    pub fn new(most: usize, shadow: Option<Shadow>) -> Cache {
        let (store, counts) = (Store::new(most), Counts::default());
        Cache { store, shadow, versions: 0, begin: time_now(), counts, flushed: NEVER }
    }

    /// Does what doesn't need a value, and writes the answer.
    pub fn execute(&mut self, command: Command, out: &mut Vec<u8>) {
        let said: Said = match command {
            Command::Get { keys, with_version, touch } => {
                keys.iter().for_each(|key| self.get(key, with_version, touch, out));
                b"END\r\n"
            }
            Command::Delete(key) => match self.live(&key).is_some() {
                true => {
                    self.remove(&key);
                    b"DELETED\r\n"
                }
                false => b"NOT_FOUND\r\n",
            },
            Command::Count { key, by, up } => self.count(&key, by, up, out),
            Command::Touch(key, expiry) => match self.touch(&key, expiry) {
                true => b"TOUCHED\r\n",
                false => b"NOT_FOUND\r\n",
            },
            Command::Flush(delay) => self.flush(delay),
            Command::Statistics { part: false } => self.statistics(out),
            Command::Statistics { part: true } => b"END\r\n",
            Command::Version => concat!("VERSION drystone-", env!("CARGO_PKG_VERSION"), "\r\n").as_bytes(),
            Command::Verbosity => b"OK\r\n",
            Command::Store(_) | Command::Quit => b"",
        };
        out.extend_from_slice(said);
    }

    /// Stores a value; what is to be said of it.
    pub fn put(&mut self, storing: &Storing, value: Vec<u8>) -> Said {
        self.counts.sets += 1;
        let before = self.live(&storing.key).cloned();
        let value = match (storing.way, &before) {
            (Way::Set, _) | (Way::Add, None) | (Way::Replace, Some(_)) => value,
            (Way::Append, Some(item)) => return self.put_joined(&storing.key, item, &item.value, &value),
            (Way::Prepend, Some(item)) => return self.put_joined(&storing.key, item, &value, &item.value),
            (Way::If(_), None) => return b"NOT_FOUND\r\n",
            (Way::If(version), Some(item)) if item.version != version => return b"EXISTS\r\n",
            (Way::If(_), Some(_)) => value,
            _ => return b"NOT_STORED\r\n",
        };
        let expires = self.expires(storing.expiry);
        self.keep(&storing.key, storing.flags, expires, value);
        b"STORED\r\n"
    }

    /// A value for the key was too long to be stored: what was there isn't what the client wants any more.
    pub fn forget(&mut self, key: &[u8]) {
        if self.store.has(key) {
            self.remove(key);
        }
    }

    fn put_joined(&mut self, key: &[u8], item: &Item, left: &[u8], right: &[u8]) -> Said {
        if left.len() + right.len() > crate::LONGEST_VALUE {
            return b"SERVER_ERROR object too large for cache\r\n";
        }
        self.keep(key, item.flags, item.expires, [left, right].concat());
        b"STORED\r\n"
    }

    fn get(&mut self, key: &[u8], with_version: bool, touch: Option<i64>, out: &mut Vec<u8>) {
        self.counts.gets += 1;
        let Some(item) = self.live(key) else { return };
        write_item(key, item, with_version, out);
        self.counts.hits += 1;
        // It is given even if it expires by that.
        if let Some(expiry) = touch {
            self.touch(key, expiry);
        }
    }

    fn count(&mut self, key: &[u8], by: u64, up: bool, out: &mut Vec<u8>) -> Said {
        let Some(item) = self.live(key).cloned() else { return b"NOT_FOUND\r\n" };
        let Some(number) =
            std::str::from_utf8(&item.value).ok().and_then(|text| text.trim().parse::<u64>().ok())
        else {
            return b"CLIENT_ERROR cannot increment or decrement non-numeric value\r\n";
        };
        let number = if up { number.wrapping_add(by) } else { number.saturating_sub(by) };
        let text = number.to_string();
        out.extend_from_slice(text.as_bytes());
        // A shorter number stands in as many bytes as the one before, as memcached does it.
        let value = format!("{text:<0$}", item.value.len()).into_bytes();
        self.keep(key, item.flags, item.expires, value);
        b"\r\n"
    }

    fn touch(&mut self, key: &[u8], expiry: i64) -> bool {
        let expires = self.expires(expiry);
        let Some(item) = self.live(key).cloned() else { return false };
        self.insert(key, Item { expires, ..item });
        true
    }

    /// An item that hasn't expired; one that has goes.
    fn live(&mut self, key: &[u8]) -> Option<&Item> {
        let now = time_now();
        if self.store.get(key, now).is_none() && self.store.has(key) {
            self.remove(key);
        }
        self.store.get(key, now)
    }

    fn keep(&mut self, key: &[u8], flags: u32, expires: u64, value: Vec<u8>) {
        self.versions += 1;
        self.insert(key, Item { flags, expires, version: self.versions, value });
        self.make_room();
    }

    fn insert(&mut self, key: &[u8], item: Item) {
        if let Some(shadow) = &mut self.shadow {
            let mut answer = Vec::new();
            write_item(key, &item, false, &mut answer);
            answer.extend_from_slice(b"END\r\n");
            shadow.put(key, !self.store.has(key), &answer, item.expires);
        }
        self.store.put(key, item);
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
            // Only the handler knows what it was asked for.
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

    fn flush(&mut self, delay: i64) -> Said {
        let at = if delay == 0 { 0 } else { self.expires(delay) };
        for key in self.store.keys() {
            match self.store.get(&key, 0).cloned() {
                Some(item) if at > 0 => self.insert(&key, Item { expires: item.expires.min(at), ..item }),
                _ => self.remove(&key),
            }
        }
        self.flushed = if at > 0 { at } else { NEVER };
        b"OK\r\n"
    }

    /// When what is said to expire so does, by the machine's clock.
    fn expires(&mut self, expiry: i64) -> u64 {
        let now = time_now();
        if self.flushed <= now {
            self.flushed = NEVER;
        }
        let seconds = match expiry {
            0 => return self.flushed,
            ..0 => return 0,
            1..=FROM_NOW => expiry,
            _ => {
                let today = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
                expiry - today as i64
            }
        };
        let after = u64::try_from(seconds).unwrap_or(0).saturating_mul(SECOND);
        now.saturating_add(after).min(self.flushed)
    }

    fn statistics(&mut self, out: &mut Vec<u8>) -> Said {
        let (items, bytes, most) = self.store.extent();
        let in_handler = self.shadow.as_ref().map_or((0, 0), Shadow::counts);
        let (hits, misses) = (in_handler.0 - self.counts.before.0, in_handler.1 - self.counts.before.1);
        let Counts { gets, hits: own, sets, evictions, .. } = self.counts;
        let rows = [
            ("pid", u64::from(std::process::id())),
            ("uptime", (time_now() - self.begin) / SECOND),
            ("curr_items", items as u64),
            ("bytes", bytes as u64),
            ("limit_maxbytes", most as u64),
            ("cmd_get", gets + hits + misses),
            ("cmd_set", sets),
            ("get_hits", own + hits),
            ("get_misses", gets - own + misses),
            ("evictions", evictions),
            ("handler_hits", hits),
            ("handler_misses", misses),
        ];
        for (name, value) in rows {
            let _ = write!(out, "STAT {name} {value}\r\n");
        }
        b"END\r\n"
    }
}

fn write_item(key: &[u8], item: &Item, with_version: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(b"VALUE ");
    out.extend_from_slice(key);
    let _ = write!(out, " {} {}", item.flags, item.value.len());
    if with_version {
        let _ = write!(out, " {}", item.version);
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(&item.value);
    out.extend_from_slice(b"\r\n");
}
