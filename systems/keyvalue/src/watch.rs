//! Which clients want to know whether keys have changed. All is noted by the writer, in the order in which it does
//! things: so a client that is answered to a `Watch` misses nothing that it couldn't have read before.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::operation::Bytes;

/// All that are watched.
#[derive(Debug, Default)]
pub struct Watches {
    by_key: Mutex<HashMap<Bytes, Vec<Weak<Watch>>>>,
    /// How many there are, to be looked at without the lock.
    keys: AtomicUsize,
}

/// What one client watches.
#[derive(Debug)]
pub struct Watch {
    all: Arc<Watches>,
    has_changed: AtomicBool,
    /// And when each of them expires; 0: never, or it isn't there.
    keys: Mutex<HashMap<Bytes, u64>>,
}

impl Watches {
    /// A client that watches nothing yet.
    pub fn client(self: &Arc<Watches>) -> Arc<Watch> {
        Arc::new(Watch { all: self.clone(), has_changed: AtomicBool::new(false), keys: Mutex::default() })
    }

    /// A key has been changed.
    pub fn touch(&self, key: &[u8]) {
        if self.keys.load(Ordering::Relaxed) > 0
            && let Some(watching) = lock(&self.by_key).get(key)
        {
            watching
                .iter()
                .filter_map(Weak::upgrade)
                .for_each(|watch| watch.has_changed.store(true, Ordering::Relaxed));
        }
    }

    /// The keys that are watched.
    pub fn keys(&self) -> Vec<Bytes> {
        lock(&self.by_key).keys().cloned().collect()
    }

    fn forget(&self, key: &[u8], gone: *const Watch) {
        let by_key = &mut *lock(&self.by_key);
        if let Some(watching) = by_key.get_mut(key) {
            watching.retain(|watch| watch.as_ptr() != gone);
            if watching.is_empty() {
                by_key.remove(key);
            }
        }
        self.keys.store(by_key.len(), Ordering::Relaxed);
    }
}

impl Watch {
    /// Watches a key, which expires then.
    pub fn add(self: &Arc<Watch>, key: &[u8], expires: u64) {
        let keys = &mut *lock(&self.keys);
        if keys.contains_key(key) {
            return;
        }
        keys.insert(key.into(), expires);
        let by_key = &mut *lock(&self.all.by_key);
        by_key.entry(key.into()).or_default().push(Arc::downgrade(self));
        self.all.keys.store(by_key.len(), Ordering::Relaxed);
    }

    /// Whether something has changed, or has expired by now.
    pub fn has_changed(&self, now: u64) -> bool {
        self.has_changed.load(Ordering::Relaxed)
            || lock(&self.keys).values().any(|&expires| expires != 0 && expires <= now)
    }

    /// Watches nothing any more.
    pub fn clear(&self) {
        for (key, _) in lock(&self.keys).drain() {
            self.all.forget(&key, self);
        }
        self.has_changed.store(false, Ordering::Relaxed);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.clear();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
