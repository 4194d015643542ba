//! The duplicate request cache of a server over UDP: a call that comes again, because its reply was lost or late, gets
//! the same reply and isn't carried out again.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;
use std::rc::Rc;

/// Most replies in the cache, and most bytes of them; the oldest are evicted.
const MOST: usize = 2048;
const MOST_BYTES: usize = 4 << 20;

/// Identifies a call: client, number, and a hash of its bytes, as a client that was restarted may use its numbers
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    peer: SocketAddr,
    xid: u32,
    call: u64,
}

impl Key {
    /// Of a call with these bytes.
    pub(super) fn of(peer: SocketAddr, xid: u32, call: &[u8]) -> Key {
        let mut hasher = DefaultHasher::new();
        call.hash(&mut hasher);
        Key { peer, xid, call: hasher.finish() }
    }
}

/// What is known of a call that came.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It is new.
    New,
    /// It is being carried out.
    Begun,
    /// This was the reply.
    Answered(Rc<[u8]>),
}

/// See the head of this file.
#[derive(Default)]
pub(super) struct Repeats {
    /// `None`: not answered yet.
    calls: HashMap<Key, Option<Rc<[u8]>>>,
    /// The calls that were answered, the oldest first.
    answered: VecDeque<Key>,
    bytes: usize,
}

impl Repeats {
    /// A call has come; a new one begins now.
    pub(super) fn came(&mut self, key: Key) -> Known {
        match self.calls.get(&key) {
            Some(Some(reply)) => Known::Answered(reply.clone()),
            Some(None) => Known::Begun,
            None => {
                self.calls.insert(key, None);
                Known::New
            }
        }
    }

    /// A call was answered so. Old replies may be evicted for it.
    pub(super) fn answered(&mut self, key: Key, reply: Rc<[u8]>) {
        self.bytes += reply.len();
        self.calls.insert(key, Some(reply));
        self.answered.push_back(key);
        while (self.answered.len() > MOST || self.bytes > MOST_BYTES)
            && let Some(oldest) = self.answered.pop_front()
        {
            let reply = self.calls.remove(&oldest).flatten();
            self.bytes -= reply.map_or(0, |reply| reply.len());
        }
    }

    /// A call has come while no new one may begin: a new one counts as begun, so that it is dropped.
    pub(super) fn look(&self, key: Key) -> Known {
        match self.calls.get(&key) {
            Some(Some(reply)) => Known::Answered(reply.clone()),
            _ => Known::Begun,
        }
    }

    /// How many calls are being carried out.
    pub(super) fn open(&self) -> usize {
        self.calls.len() - self.answered.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(port: u16, xid: u32, call: &[u8]) -> Key {
        Key::of(SocketAddr::from(([127, 0, 0, 1], port)), xid, call)
    }

    #[test]
    fn a_call_is_carried_out_once() {
        let mut repeats = Repeats::default();
        let ours = key(1, 7, b"call");
        assert_eq!((repeats.came(ours), repeats.came(ours), repeats.open()), (Known::New, Known::Begun, 1));
        repeats.answered(ours, (*b"reply").into());
        assert_eq!((repeats.came(ours), repeats.open()), (Known::Answered((*b"reply").into()), 0));
        for other in [key(2, 7, b"call"), key(1, 8, b"call"), key(1, 7, b"other")] {
            assert_eq!(repeats.came(other), Known::New);
        }
        assert_eq!((repeats.look(key(3, 7, b"call")), repeats.open()), (Known::Begun, 3));
        assert_eq!(repeats.look(ours), Known::Answered((*b"reply").into()));
    }

    #[test]
    fn it_keeps_to_its_limits() {
        let mut repeats = Repeats::default();
        for xid in 0..3 * MOST as u32 {
            repeats.came(key(1, xid, b""));
            repeats.answered(key(1, xid, b""), vec![0; 10].into());
        }
        assert_eq!((repeats.calls.len(), repeats.bytes), (MOST, 10 * MOST));
        for xid in 0..3 {
            repeats.came(key(2, xid, b""));
            repeats.answered(key(2, xid, b""), vec![0; MOST_BYTES / 2].into());
        }
        assert!(repeats.bytes <= MOST_BYTES && repeats.calls.len() == 2);
    }
}
