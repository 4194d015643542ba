//! The items, those that were used longest ago going when there is no room.

use lru::LruCache;

/// When something that never expires does.
pub const NEVER: u64 = u64::MAX;

/// What an item takes besides its bytes, about.
const OVERHEAD: usize = 120;

/// A value, with what belongs to it. Times are the machine's clock's, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// As who set it said.
    pub flags: u32,
    /// When it expires.
    pub expires: u64,
    /// Another one whenever the item changes.
    pub version: u64,
    /// When its value came, when the handler was given its answer, and when this process was last asked for it.
    pub stored: u64,
    pub placed: u64,
    pub used: u64,
    /// Somebody has asked for it.
    pub is_hit: bool,
    /// It may be old, who asks is told. Somebody has been told to fetch it anew.
    pub is_stale: bool,
    pub is_sent: bool,
    /// Its key was said in Base64.
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
    /// With room for so many bytes.
    pub fn new(most: usize) -> Store {
        Store { items: LruCache::unbounded(), bytes: 0, most }
    }

    /// An item; it has been used now. Its value stays as long as it is.
    pub fn get(&mut self, key: &[u8]) -> Option<&mut Item> {
        self.items.get_mut(key)
    }

    /// An item, which isn't used by that.
    pub fn peek(&self, key: &[u8]) -> Option<&Item> {
        self.items.peek(key)
    }

    /// Puts an item under a key.
    pub fn put(&mut self, key: &[u8], item: Item) {
        self.bytes += size(key, &item);
        if let Some(before) = self.items.put(key.to_vec(), item) {
            self.bytes -= size(key, &before);
        }
    }

    /// Takes an item out.
    pub fn remove(&mut self, key: &[u8]) -> Option<Item> {
        let item = self.items.pop(key)?;
        self.bytes -= size(key, &item);
        Some(item)
    }

    /// The key that was used longest ago, if there are more bytes than there is room for.
    pub fn too_much(&self) -> Option<&[u8]> {
        self.oldest().filter(|_| self.bytes > self.most).map(|(key, _)| key)
    }

    /// The item that was used longest ago.
    pub fn oldest(&self) -> Option<(&[u8], &Item)> {
        self.items.peek_lru().map(|(key, item)| (key.as_slice(), item))
    }

    /// A key was used now.
    pub fn promote(&mut self, key: &[u8]) {
        self.items.promote(key);
    }

    /// All keys.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        self.items.iter().map(|(key, _)| key.clone()).collect()
    }

    /// How many items there are, their bytes, and how many these may be.
    pub fn extent(&self) -> (usize, usize, usize) {
        (self.items.len(), self.bytes, self.most)
    }
}

fn size(key: &[u8], item: &Item) -> usize {
    key.len() + item.value.len() + OVERHEAD
}
