//! This program's part of the shared memory: the handler's region or, without a handler, memory of the process.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use drystone_handlers::Region;

use crate::peer::{HEAD, Request};
use crate::{MOST, SLOT, SLOTS};

/// Bytes before the slots.
const BEFORE: usize = 4096;

/// A handle: clones refer to the same memory.
#[derive(Clone)]
pub struct Memory(Words);

#[derive(Clone)]
enum Words {
    Shared(Region),
    Own(Arc<[AtomicU64]>),
}

impl From<Region> for Memory {
    fn from(region: Region) -> Memory {
        Memory(Words::Shared(region))
    }
}

impl Default for Memory {
    fn default() -> Memory {
        let words = (BEFORE + SLOTS * SLOT) / 8;
        Memory(Words::Own((0..words).map(|_| AtomicU64::new(0)).collect()))
    }
}

impl Memory {
    fn word(&self, offset: usize) -> &AtomicU64 {
        match &self.0 {
            Words::Shared(region) => region.number(offset),
            Words::Own(words) => &words[offset / 8],
        }
    }

    fn begun(&self, slot: usize) -> &AtomicU64 {
        self.word(8 * slot)
    }

    fn complete(&self, slot: usize) -> &AtomicU64 {
        self.word(8 * (SLOTS + slot))
    }

    fn data(&self, slot: usize, offset: usize) -> &AtomicU64 {
        self.word(BEFORE + slot * SLOT + offset)
    }

    /// Whether all writes of a round to a slot have arrived.
    pub fn is_complete(&self, slot: usize, round: u64) -> bool {
        self.complete(slot).load(Acquire) >= round
    }

    /// Reads words from the beginning of a slot.
    pub fn read(&self, slot: usize, to: &mut [u64]) {
        for (at, to) in to.iter_mut().enumerate() {
            *to = self.data(slot, 8 * at).load(Relaxed);
        }
    }

    /// Executes a request as the handler does; returns the acknowledgement. `None` for an invalid request.
    pub fn take(&self, datagram: &[u8]) -> Option<Vec<u8>> {
        let (request, data) = Request::read(datagram)?;
        let Request { slot, offset, bytes, is_last, round } = request;
        let (slot, offset, bytes) = (slot as usize, offset as usize, bytes as usize);
        let is_aligned = offset.is_multiple_of(8) && bytes.is_multiple_of(8);
        if slot >= SLOTS || bytes > MOST || offset > SLOT - MOST || !is_aligned {
            return None;
        }
        let words = data.get(..bytes)?.as_chunks().0;
        if self.begun(slot).fetch_max(round, AcqRel) <= round {
            for (at, word) in words.iter().enumerate() {
                self.data(slot, offset + 8 * at).store(u64::from_ne_bytes(*word), Relaxed);
            }
            if is_last {
                self.complete(slot).store(round, Release);
            }
        }
        Some(datagram[..HEAD].to_vec())
    }
}
