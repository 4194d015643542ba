//! The control block shared by library and handler: `struct stream` of `drystone/tcp.h`, at the beginning of a region.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};

use drystone_handlers::Region;

/// The block's words, in order.
#[derive(Clone, Copy)]
pub(super) enum Word {
    Turn,
    IsOpen,
    Addresses,
    Ports,
    Next,
    Acknowledged,
    Sent,
    Said,
    Window,
    Told,
    Come,
    Taken,
    Waits,
    Handled,
    Unexpected,
    InUse,
    Behind,
    Answers,
}

/// Sizes of the rings for each direction, and of the room that is kept for handlers' answers.
pub(super) const COMING: usize = 1 << 16;
pub(super) const GOING: usize = 1 << 16;
pub(super) const ANSWER: usize = 32;

const COMING_AT: usize = 8 * (Word::Answers as usize + 1) + ANSWER;
const GOING_AT: usize = COMING_AT + COMING;

/// The least length of a region.
pub(super) const BYTES: usize = (GOING_AT + GOING).next_power_of_two();

const NOBODYS: u64 = 0;
const LIBRARYS: u64 = 2;

/// Counts the segments of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Processed by the handler.
    pub handled: u64,
    /// Left to the library, because they weren't as predicted.
    pub unexpected: u64,
    /// Left to the library, because it held the control block.
    pub in_use: u64,
    /// Left to the library, because the application hadn't made room.
    pub behind: u64,
    /// Processed by the handler, and answered by the application's fragment.
    pub answers: u64,
}

impl Counts {
    /// The share of all segments that were as predicted, and that the handler left to the library nevertheless.
    pub fn aborted(&self) -> f64 {
        let aborted = (self.in_use + self.behind) as f64;
        aborted / (self.handled as f64 + aborted + self.unexpected as f64).max(1.0)
    }
}

/// A handle to the control block. Clones are handles to the same block.
#[derive(Clone)]
pub(super) struct Block(Region);

impl Block {
    /// The control block in a region of at least [`BYTES`].
    pub fn new(region: Region) -> Block {
        Block(region)
    }

    /// The region's address.
    pub fn address(&self) -> u64 {
        self.0.address()
    }

    /// Sets all words to 0.
    pub fn clear(&self) {
        for at in 0..=Word::Answers as usize {
            self.0.number(8 * at).store(0, Ordering::Release);
        }
    }

    fn word(&self, word: Word) -> &AtomicU64 {
        self.0.number(8 * word as usize)
    }

    pub fn get(&self, word: Word) -> u64 {
        self.word(word).load(Ordering::Acquire)
    }

    /// A word as a sequence number.
    pub fn number(&self, word: Word) -> u32 {
        self.get(word) as u32
    }

    pub fn set(&self, word: Word, value: u64) {
        self.word(word).store(value, Ordering::Release);
    }

    /// Locks the block for the library until the result is dropped. The handler holds it for a few hundred instructions
    /// at a time. A handler that was stopped doesn't release it: after a while the library takes it anyway.
    pub fn turn(&self) -> Turn<'_> {
        const PATIENCE: u32 = 1 << 20;
        let turn = self.word(Word::Turn);
        for _ in 0..PATIENCE {
            if turn.compare_exchange(NOBODYS, LIBRARYS, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return Turn(turn);
            }
            spin_loop();
        }
        turn.store(LIBRARYS, Ordering::Release);
        Turn(turn)
    }

    /// Room for received bytes.
    pub fn room(&self) -> usize {
        COMING.saturating_sub(self.get(Word::Come).wrapping_sub(self.get(Word::Taken)) as usize)
    }

    /// The window that is announced to the other side.
    pub fn window(&self) -> u16 {
        self.room().min(u16::MAX.into()) as u16
    }

    pub fn put_come(&self, bytes: &[u8]) {
        let come = self.get(Word::Come);
        round(COMING_AT, COMING, come, bytes.len(), |at, range| self.0.write(at, &bytes[range]));
        self.set(Word::Come, come.wrapping_add(bytes.len() as u64));
    }

    /// Takes received bytes, as far as the buffer reaches. Returns how many.
    pub fn take_come(&self, buffer: &mut [u8]) -> usize {
        let taken = self.get(Word::Taken);
        let count = buffer.len().min(self.get(Word::Come).wrapping_sub(taken) as usize);
        round(COMING_AT, COMING, taken, count, |at, range| self.0.read(at, &mut buffer[range]));
        self.set(Word::Taken, taken.wrapping_add(count as u64));
        count
    }

    /// Queues bytes to be sent, as far as there is room. Returns how many. Room for a handler's answer is kept.
    pub fn say(&self, bytes: &[u8]) -> usize {
        let said = self.number(Word::Said);
        let waiting = said.wrapping_sub(self.number(Word::Acknowledged)) as usize;
        let count = bytes.len().min((GOING - ANSWER).saturating_sub(waiting));
        round(GOING_AT, GOING, said.into(), count, |at, range| self.0.write(at, &bytes[range]));
        self.set(Word::Said, said.wrapping_add(count as u32).into());
        count
    }

    /// The queued bytes from a sequence number on.
    pub fn said(&self, from: u32, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        round(GOING_AT, GOING, from.into(), count, |at, range| self.0.read(at, &mut bytes[range]));
        bytes
    }

    pub fn counts(&self) -> Counts {
        Counts {
            handled: self.get(Word::Handled),
            unexpected: self.get(Word::Unexpected),
            in_use: self.get(Word::InUse),
            behind: self.get(Word::Behind),
            answers: self.get(Word::Answers),
        }
    }
}

/// Splits a range of bytes in a ring, which may pass the ring's end, into contiguous parts.
fn round(
    begin: usize,
    size: usize,
    number: u64,
    count: usize,
    mut part: impl FnMut(usize, std::ops::Range<usize>),
) {
    let at = number as usize % size;
    let first = count.min(size - at);
    part(begin + at, 0..first);
    part(begin, first..count);
}

/// The library's lock on a block: see [`Block::turn`].
pub(super) struct Turn<'a>(&'a AtomicU64);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.store(NOBODYS, Ordering::Release);
    }
}
