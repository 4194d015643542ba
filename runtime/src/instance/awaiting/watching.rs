//! Which elements of collections are watched, and by which waiting processes: a hash table. It grows by one bucket at a
//! time, so that no insertion moves many entries.

use alloc::vec::Vec;

use crate::layout::WATCHED;

/// The elements that a condition reads, by their hashes; 0: none.
pub type Elements = [u64; WATCHED];

/// A waiter that watches: a number that means something to the caller.
pub type Watcher = u32;

/// The number of an entry, by which it is removed.
pub type Entry = u32;

/// Instead of an entry's number: there is none.
pub const NONE: Entry = u32::MAX;

/// Elements, by their hashes, with their watchers.
pub struct Watching {
    /// The first entry of each chain.
    buckets: Vec<Entry>,
    entries: Vec<Watched>,
    /// The first entry that is not in use; they form a chain by `next`.
    free: Entry,
    used: usize,
}

struct Watched {
    element: u64,
    watcher: Watcher,
    before: Entry,
    next: Entry,
}

/// No more room than that is kept when nothing is watched.
const KEPT: usize = 64;

impl Watching {
    /// Nothing is watched.
    pub const fn new() -> Watching {
        Watching { buckets: Vec::new(), entries: Vec::new(), free: NONE, used: 0 }
    }

    /// An element is watched.
    pub fn insert(&mut self, element: u64, watcher: Watcher) -> Entry {
        if self.used >= self.buckets.len() {
            self.add_bucket();
        }
        self.used += 1;
        let watched = Watched { element, watcher, before: NONE, next: NONE };
        let entry = self.free;
        let entry = if entry == NONE {
            self.entries.push(watched);
            self.entries.len() as Entry - 1
        } else {
            self.free = core::mem::replace(&mut self.entries[entry as usize], watched).next;
            entry
        };
        self.link(entry);
        entry
    }

    /// An entry's element is no longer watched by it.
    pub fn remove(&mut self, entry: Entry) {
        self.unlink(entry);
        self.entries[entry as usize].next = core::mem::replace(&mut self.free, entry);
        self.used -= 1;
        if self.used == 0 && self.entries.len() > KEPT {
            *self = Watching::new();
        }
    }

    /// The element of an entry.
    pub fn element(&self, entry: Entry) -> u64 {
        self.entries[entry as usize].element
    }

    /// The watchers of an element, in no order.
    pub fn watchers(&self, element: u64) -> impl Iterator<Item = Watcher> {
        let first = if self.used == 0 { NONE } else { self.buckets[self.bucket_of(element)] };
        let mut chain = self.entries.get(first as usize);
        core::iter::from_fn(move || {
            let watched = chain?;
            chain = self.entries.get(watched.next as usize);
            Some(watched)
        })
        .filter(move |watched| watched.element == element)
        .map(|watched| watched.watcher)
    }

    /// Where an element belongs while buckets are added one by one: those behind the largest power of two are the
    /// second halves of the first ones.
    fn bucket_of(&self, element: u64) -> usize {
        let spread = (element.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize;
        let all = self.buckets.len().next_power_of_two();
        let bucket = spread & (all - 1);
        if bucket < self.buckets.len() { bucket } else { bucket - all / 2 }
    }

    fn add_bucket(&mut self) {
        let added = self.buckets.len();
        self.buckets.push(NONE);
        if added == 0 {
            return;
        }
        // The one whose second half it is.
        let split = added - (1 << added.ilog2());
        let mut entry = core::mem::replace(&mut self.buckets[split], NONE);
        while entry != NONE {
            let next = self.entries[entry as usize].next;
            self.link(entry);
            entry = next;
        }
    }

    fn link(&mut self, entry: Entry) {
        let bucket = self.bucket_of(self.entries[entry as usize].element);
        let next = core::mem::replace(&mut self.buckets[bucket], entry);
        let watched = &mut self.entries[entry as usize];
        (watched.before, watched.next) = (NONE, next);
        if next != NONE {
            self.entries[next as usize].before = entry;
        }
    }

    fn unlink(&mut self, entry: Entry) {
        let Watched { element, before, next, .. } = self.entries[entry as usize];
        if before == NONE {
            let bucket = self.bucket_of(element);
            self.buckets[bucket] = next;
        } else {
            self.entries[before as usize].next = next;
        }
        if next != NONE {
            self.entries[next as usize].before = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn watchers(watching: &Watching, element: u64) -> Vec<Watcher> {
        let mut all: Vec<Watcher> = watching.watchers(element).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn those_who_watch_are_found_however_many_there_are() {
        let mut watching = Watching::new();
        assert_eq!(watchers(&watching, 1), []);
        let mut entries = Vec::new();
        for watcher in 0..1000 {
            // Each element is watched by two.
            entries.push(watching.insert(u64::from(watcher / 2) << 20, watcher));
            let all_found = (0..=watcher)
                .all(|known| watching.watchers(u64::from(known / 2) << 20).any(|found| found == known));
            assert!(all_found, "after {watcher}");
        }
        assert_eq!(watchers(&watching, 7 << 20), [14, 15]);
        assert_eq!(watchers(&watching, 7), []);
        for watcher in (0..1000).filter(|watcher| watcher % 3 != 0) {
            watching.remove(entries[watcher]);
        }
        for watcher in (0..1000).step_by(2) {
            let left = (watcher..watcher + 2).filter(|watcher| watcher % 3 == 0);
            assert_eq!(watchers(&watching, u64::from(watcher / 2) << 20), left.collect::<Vec<_>>());
        }
    }

    #[test]
    fn room_of_what_is_watched_no_longer_is_used_again() {
        let mut watching = Watching::new();
        let first = watching.insert(5, 1);
        watching.remove(first);
        assert_eq!(watching.insert(6, 2), first);
        assert_eq!((watchers(&watching, 5), watchers(&watching, 6)), (vec![], vec![2]));
        let many: Vec<Entry> = (0..1000).map(|element| watching.insert(element, 3)).collect();
        many.into_iter().chain([first]).for_each(|entry| watching.remove(entry));
        assert_eq!((watching.entries.len(), watching.buckets.len()), (0, 0));
    }
}
