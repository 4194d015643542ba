//! Tells clients whether watched keys have changed. The writer records watches and changes in the order in which it
//! executes them: a client that has its answer to `Watch` misses no later change.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::operation::Bytes;

/// The watches of all clients.
#[derive(Debug, Default)]
pub struct Watches {
    by_key: Mutex<HashMap<Bytes, Vec<Weak<Watch>>>>,
    /// The number of watched keys, readable without the lock.
    keys: AtomicUsize,
}

/// The watch of one client.
#[derive(Debug)]
pub struct Watch {
    all: Arc<Watches>,
    has_changed: AtomicBool,
    /// The watched keys and their expiry times; 0: the key never expires, or doesn't exist.
    keys: Mutex<HashMap<Bytes, u64>>,
}

impl Watches {
    /// A watch without keys.
    pub fn client(self: &Arc<Watches>) -> Arc<Watch> {
        Arc::new(Watch { all: self.clone(), has_changed: AtomicBool::new(false), keys: Mutex::default() })
    }

    /// Records that a key has changed.
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

    /// The watched keys.
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
    /// Watches a key with that expiry time.
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

    /// Whether a watched key has changed or expired by now.
    pub fn has_changed(&self, now: u64) -> bool {
        self.has_changed.load(Ordering::Relaxed)
            || lock(&self.keys).values().any(|&expires| expires != 0 && expires <= now)
    }

    /// Stops watching all keys.
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
