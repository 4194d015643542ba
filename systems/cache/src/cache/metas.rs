//! The meta commands.

use drystone_handlers::time_now;

use super::{Cache, Counted, NO_NUMBER, Outcome, SECOND, ends, is_hit, used, write};
use crate::command::Storing;
use crate::meta::{Meta, Told, is_short};
use crate::store::{Item, NEVER};

impl Cache {
    /// `mg`. If the value is longer than `most`, nothing is done but its length returned.
    ///
    /// # Errors
    /// The value's length.
    pub fn meta_get(&mut self, meta: &Meta, most: usize, out: &mut Vec<u8>) -> Result<(), usize> {
        let length = self.live(&meta.key).map_or(0, |item| item.value.len());
        if meta.value && length > most {
            return Err(length);
        }
        self.counts.gets += 1;
        let is_there = self.live(&meta.key).is_some();
        let is_made = !is_there && meta.made.is_some();
        self.counts.hits += u64::from(is_there);
        if is_made {
            self.keep(&meta.key, Item { expires: NEVER, ..Item::default() });
        }
        let (told, is_late) = self.renewed(meta, is_made);
        if let Err(told) = is_short(&meta.flags) {
            write(out, format_args!("{told}\r\n"));
        } else if let Some(item) = self.store.get(&meta.key) {
            let is_won = is_made || !item.is_sent && (is_late || item.is_stale);
            match meta.value {
                true => write(out, format_args!("VA {}", item.value.len())),
                false => out.extend_from_slice(b"HD"),
            }
            meta.answer(Some((item, told)), b"stcflhOk", out);
            for (is_so, mark) in [(item.is_sent, b" Z"), (item.is_stale, b" X"), (is_won, b" W")] {
                out.extend_from_slice(if is_so { mark } else { b"" });
            }
            out.extend_from_slice(b"\r\n");
            if meta.value {
                out.extend_from_slice(&item.value);
                out.extend_from_slice(b"\r\n");
            }
            item.is_sent |= is_won;
            if !meta.flags.iter().any(|flag| flag[0] == b'u') {
                (item.is_hit, item.used) = (true, time_now());
            }
        } else if !meta.is_quiet {
            out.extend_from_slice(b"EN");
            meta.answer(None, b"Ok", out);
            out.extend_from_slice(b"\r\n");
        }
        Ok(())
    }

    /// `ms`
    pub(super) fn meta_put(&mut self, storing: &Storing, value: Vec<u8>, out: &mut Vec<u8>) {
        let Some(meta) = storing.meta.as_deref() else { return };
        let outcome = self.stored(storing, value);
        let said = match outcome {
            Outcome::Stored if storing.is_quiet => return,
            Outcome::Stored => "HD",
            Outcome::NotStored => "NS",
            Outcome::Exists => "EX",
            Outcome::NotFound => "NF",
        };
        out.extend_from_slice(said.as_bytes());
        let item = Item { version: self.versions, is_binary: meta.is_binary, ..Item::default() };
        let version = if outcome == Outcome::Stored { self.versions } else { 0 };
        meta.answer(Some((&item, Told { version, ..Told::default() })), b"Okc", out);
        out.extend_from_slice(b"\r\n");
    }

    /// `md`
    pub(super) fn meta_delete(&mut self, meta: &Meta, out: &mut Vec<u8>) {
        if let Err(told) = is_short(&meta.flags) {
            return write(out, format_args!("{told}\r\n"));
        }
        let version = self.live(&meta.key).map(|item| item.version);
        let said = match version {
            None => "NF",
            Some(version) if meta.version.is_some_and(|wanted| wanted != version) => "EX",
            Some(_) => {
                if meta.is_stale {
                    self.make_stale(meta);
                } else {
                    self.remove(&meta.key);
                }
                if meta.is_quiet {
                    return;
                }
                "HD"
            }
        };
        out.extend_from_slice(said.as_bytes());
        meta.answer(None, b"Okb", out);
        out.extend_from_slice(b"\r\n");
    }

    fn make_stale(&mut self, meta: &Meta) {
        self.versions += 1;
        let version = self.versions;
        if let Some(item) = self.store.get(&meta.key) {
            (item.version, item.is_stale, item.is_sent) = (version, true, false);
        }
        if let Some(expiry) = meta.expiry {
            self.set_expiry(&meta.key, expiry);
        }
    }

    /// `ma`
    pub fn meta_count(&mut self, meta: &Meta, out: &mut Vec<u8>) {
        let up = match meta.mode {
            None | Some(b'I' | b'+') => true,
            Some(b'D' | b'-') => false,
            Some(_) => return out.extend_from_slice(b"CLIENT_ERROR invalid mode for ma M token\r\n"),
        };
        // Version 0 stands for any version: no item has it.
        let version = meta.version.filter(|version| *version != 0);
        let (mut counted, mut is_made) = (self.count(&meta.key, version, meta.delta, up), false);
        if matches!(counted, Counted::NotFound) && meta.made.is_some() {
            let value = meta.initial.to_string().into_bytes();
            self.keep(&meta.key, Item { expires: NEVER, value, ..Item::default() });
            (counted, is_made) = (Counted::Is(meta.initial), true);
        }
        let said = match counted {
            Counted::NoNumber => return write(out, format_args!("{NO_NUMBER}\r\n")),
            Counted::Is(_) => "HD",
            Counted::Exists => "EX",
            Counted::NotFound => "NF",
        };
        let told = match counted {
            Counted::Is(_) => self.renewed(meta, is_made).0,
            _ => Told::default(),
        };
        if let Err(told) = is_short(&meta.flags) {
            return write(out, format_args!("{told}\r\n"));
        }
        let Counted::Is(number) = counted else {
            out.extend_from_slice(said.as_bytes());
            meta.answer(None, b"Ok", out);
            return out.extend_from_slice(b"\r\n");
        };
        if meta.is_quiet && !is_made {
            return;
        }
        let text = number.to_string();
        match meta.value {
            true => write(out, format_args!("VA {}", text.len())),
            false => out.extend_from_slice(said.as_bytes()),
        }
        // The answer shows the key as the client spelled it.
        let item = Item { is_binary: meta.is_binary, ..Item::default() };
        meta.answer(Some((&item, told)), b"ctOk", out);
        out.extend_from_slice(b"\r\n");
        if meta.value {
            write(out, format_args!("{text}\r\n"));
        }
    }

    /// `me`
    pub(super) fn meta_tell(&mut self, key: &[u8], out: &mut Vec<u8>) {
        let told = self.told(key);
        let Some(item) = self.live(key) else { return out.extend_from_slice(b"EN\r\n") };
        out.extend_from_slice(b"ME ");
        out.extend_from_slice(key);
        let left = told.left.map_or(-1, |left| i64::try_from(left).unwrap_or(i64::MAX));
        let fetched = if told.is_hit { "yes" } else { "no" };
        write(
            out,
            format_args!(
                " exp={left} la={} cas={} fetch={fetched} cls=1 size={}\r\n",
                told.idle,
                told.version,
                item.value.len()
            ),
        );
    }

    /// Sets an item's expiry time by the flags, in their order; stops at a value that is too long. Returns what is
    /// known of the item, with the former time if that is asked for, and whether less time is left than wanted.
    fn renewed(&mut self, meta: &Meta, is_made: bool) -> (Told, bool) {
        let (mut told, mut is_late) = (self.told(&meta.key), false);
        for flag in meta.flags.iter().take_while(|flag| is_short(std::slice::from_ref(flag)).is_ok()) {
            match flag[0] {
                b'T' => meta.expiry.iter().for_each(|expiry| self.set_expiry(&meta.key, *expiry)),
                b'N' if is_made => meta.made.iter().for_each(|expiry| self.set_expiry(&meta.key, *expiry)),
                b't' => told.left = self.told(&meta.key).left,
                b'R' if !is_made => is_late = self.is_late(&meta.key, meta.recache.unwrap_or(0)),
                _ => {}
            }
        }
        (told, is_late)
    }

    /// Whether an item expires before a time, in whole seconds.
    fn is_late(&self, key: &[u8], wanted: i32) -> bool {
        let wanted = if wanted == 0 { 0 } else { self.expires(wanted) };
        self.store
            .peek(key)
            .is_some_and(|item| item.expires != NEVER && item.expires.saturating_add(SECOND) <= wanted)
    }

    /// What is known of an item, if it exists.
    fn told(&self, key: &[u8]) -> Told {
        let now = time_now();
        let (Some(item), flushed) = (self.store.peek(key), self.flushed) else { return Told::default() };
        let (is_hit, used) = match &self.shadow {
            Some(shadow) => (is_hit(shadow, key, item), used(shadow, key, item)),
            None => (item.is_hit, item.used),
        };
        let left = match item.expires {
            NEVER => None,
            _ => Some(ends(item, flushed).saturating_sub(now).div_ceil(SECOND)),
        };
        Told { left, idle: now.saturating_sub(used) / SECOND, is_hit, version: item.version }
    }
}
