//! The items; the least recently used are evicted when there is no room.

use lru::LruCache;

/// The expiry time of items that never expire.
pub const NEVER: u64 = u64::MAX;

/// About the memory of an item besides its bytes.
const OVERHEAD: usize = 120;

/// A value and its attributes. Times are the machine's clock's, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// The flags that the client has set.
    pub flags: u32,
    /// When it expires.
    pub expires: u64,
    /// A new number whenever the item changes.
    pub version: u64,
    /// When its value was stored, when the handler got its answer, and when this process was last asked for it.
    pub stored: u64,
    pub placed: u64,
    pub used: u64,
    /// Whether it has been asked for.
    pub is_hit: bool,
    /// Whether it is stale, which clients are told; and whether a client has been told to fetch it anew.
    pub is_stale: bool,
    pub is_sent: bool,
    /// Whether its key was given in Base64.
    pub is_binary: bool,
    /// The bytes.
    pub value: Vec<u8>,
}

/// See the head of this file.
#[derive(Debug)]
pub struct Store {
    items: LruCache<Vec<u8>, Item>,
    bytes: usize,
    most: usize,
}

impl Store {
    /// A store for so many bytes.
    pub fn new(most: usize) -> Store {
        Store { items: LruCache::unbounded(), bytes: 0, most }
    }

    /// An item, which becomes the most recently used.
    pub fn get(&mut self, key: &[u8]) -> Option<&mut Item> {
        self.items.get_mut(key)
    }

    /// An item; its use doesn't change.
    pub fn peek(&self, key: &[u8]) -> Option<&Item> {
        self.items.peek(key)
    }

    /// Stores an item under a key.
    pub fn put(&mut self, key: &[u8], item: Item) {
        self.bytes += size(key, &item);
        if let Some(before) = self.items.put(key.to_vec(), item) {
            self.bytes -= size(key, &before);
        }
    }

    /// Removes an item.
    pub fn remove(&mut self, key: &[u8]) -> Option<Item> {
        let item = self.items.pop(key)?;
        self.bytes -= size(key, &item);
        Some(item)
    }

    /// The least recently used key, if the items take more bytes than they may.
    pub fn too_much(&self) -> Option<&[u8]> {
        self.oldest().filter(|_| self.bytes > self.most).map(|(key, _)| key)
    }

    /// The least recently used item.
    pub fn oldest(&self) -> Option<(&[u8], &Item)> {
        self.items.peek_lru().map(|(key, item)| (key.as_slice(), item))
    }

    /// Makes a key the most recently used.
    pub fn promote(&mut self, key: &[u8]) {
        self.items.promote(key);
    }

    /// All keys.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        self.items.iter().map(|(key, _)| key.clone()).collect()
    }

    /// The number of items, their bytes, and the most bytes that they may take.
    pub fn extent(&self) -> (usize, usize, usize) {
        (self.items.len(), self.bytes, self.most)
    }
}

fn size(key: &[u8], item: &Item) -> usize {
    key.len() + item.value.len() + OVERHEAD
}
