//! The requests of a client that wait for a reply. A reply to anything else is ignored.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::datagram::{Head, REFUSED};
use drystone_net::slot::Slot;

/// See the head of this file. They are found by their numbers.
#[derive(Default)]
pub(super) struct Unanswered(HashMap<u32, Asked>);

/// A request that waits for its reply.
pub(super) struct Asked {
    /// That of the reply.
    pub(super) form: u32,
    pub(super) slot: Rc<Slot>,
    pub(super) patience: Duration,
    pub(super) until: Instant,
}

impl Unanswered {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add(&mut self, asked: Asked) {
        self.0.insert(asked.slot.id, asked);
    }

    pub(super) fn forget(&mut self, id: u32) {
        self.0.remove(&id);
    }

    /// The request to which a datagram with this head is the reply. Only a refusal may be of another form.
    pub(super) fn take(&mut self, reply: Head) -> Option<Asked> {
        match self.0.entry(reply.id) {
            Entry::Occupied(asked) if reply.form == asked.get().form || reply.message == REFUSED => {
                Some(asked.remove())
            }
            _ => None,
        }
    }

    /// Removes the requests whose time is over.
    pub(super) fn late(&mut self, now: Instant) -> Vec<Asked> {
        self.0.extract_if(|_, asked| asked.until <= now).map(|(_, asked)| asked).collect()
    }

    pub(super) fn all(&mut self) -> Vec<Asked> {
        self.0.drain().map(|(_, asked)| asked).collect()
    }

    /// When the time of the first one is over.
    pub(super) fn first(&self) -> Option<Instant> {
        self.0.values().map(|asked| asked.until).min()
    }
}
