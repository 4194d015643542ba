//! A ring of bytes between one writer and one reader, in memory that both see: two domains.
//!
//! Indices count the bytes that were ever written and ever read, and never go back; where they stand in the ring is
//! their remainder. Each side keeps its own index to itself and only tells it: what it reads of the other's is checked
//! before it is used. So a peer that writes nonsense there is found out ([`Garbage`]), or makes others read bytes that
//! mean nothing; nobody ever looks outside the ring.
//!
//! A writer reserves room and writes in place; nothing of that is seen before it [publishes](Writer::publish), with
//! one store for as many frames as there are. Bytes lie in one piece wherever the ring is mapped twice in a row
//! ([`Place::mirrored`]); where it isn't, at its end in two.
//!
//! # Soundness
//!
//! Whoever makes a [`Place`] promises that its memory is there as long as it is used, and that there is one writer and
//! one reader. The writer only writes behind `head` and the reader only reads before `tail`, each as it saw them
//! with `Acquire`, behind the other's `Release`; so they never touch the same byte at once. A peer that doesn't keep to
//! that is in another process, and [`Reader::bytes`] must not be used for it: what it changes meanwhile would be a
//! reference's target. [`Reader::copy_to`] copies what is there, once, and who looks at the copy sees one value of each
//! byte.

use core::ptr;
use core::slice;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};

/// On cache lines of its own (two: processors fetch them in pairs).
#[repr(C, align(128))]
#[derive(Default)]
pub(super) struct Line<T>(pub(super) T);

/// What both sides of a ring see besides its bytes. All 0 at the beginning.
#[repr(C)]
#[derive(Default)]
pub(super) struct Indices {
    /// Bytes ever published.
    pub(super) tail: Line<AtomicU64>,
    /// Bytes ever read.
    pub(super) head: Line<AtomicU64>,
    /// Not 0: the writer waits for room.
    pub(super) starved: Line<AtomicU32>,
}

/// Where a ring lies.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Shared with the other side.
    pub(super) indices: *const Indices,
    /// The first byte.
    pub(super) bytes: *mut u8,
    /// How many: a power of two.
    pub(super) capacity: usize,
    /// Behind the last byte the first follows again, so that every part of the ring is one piece.
    pub(super) mirrored: bool,
}

/// The other side's index makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Garbage;

impl Place {
    fn indices(&self) -> &Indices {
        // SAFETY: see the head of this file.
        unsafe { &*self.indices }
    }

    /// Where an index stands, and how many of `bytes` lie there in one piece.
    fn piece(&self, index: u64, bytes: usize) -> (*mut u8, usize) {
        let offset = index as usize & (self.capacity - 1);
        let piece = if self.mirrored { bytes } else { bytes.min(self.capacity - offset) };
        // SAFETY: less than the capacity.
        (unsafe { self.bytes.add(offset) }, piece)
    }
}

/// The side that writes.
pub(super) struct Writer {
    place: Place,
    /// Bytes ever written.
    tail: u64,
    /// Of these, published.
    published: u64,
    /// Bytes that the reader had read when we last looked.
    head: u64,
}

impl Writer {
    /// # Safety
    /// See the head of this file.
    pub(super) unsafe fn new(place: Place) -> Writer {
        Writer { place, tail: 0, published: 0, head: 0 }
    }

    /// Room for more bytes, in one piece: `least` if there is so much in the whole ring, else what there is.
    pub(super) fn room(&mut self, least: usize) -> Result<&mut [u8], Garbage> {
        if self.free() < least {
            self.look()?;
        }
        let (bytes, piece) = self.place.piece(self.tail, self.free());
        // SAFETY: the reader doesn't read behind `tail` before it is published. A process that does so all the same
        // sees bytes that aren't finished; nothing is read back here.
        Ok(unsafe { slice::from_raw_parts_mut(bytes, piece) })
    }

    /// So many bytes have been written at the beginning of [`room`](Self::room).
    pub(super) fn commit(&mut self, bytes: usize) {
        assert!(bytes <= self.free());
        self.tail += bytes as u64;
    }

    /// Writes as many of the bytes as there is room for.
    pub(super) fn write(&mut self, mut bytes: &[u8]) -> Result<usize, Garbage> {
        let mut written = 0;
        while !bytes.is_empty() {
            let room = self.room(bytes.len())?;
            if room.is_empty() {
                break;
            }
            let piece = room.len().min(bytes.len());
            room[..piece].copy_from_slice(&bytes[..piece]);
            self.commit(piece);
            bytes = &bytes[piece..];
            written += piece;
        }
        Ok(written)
    }

    /// Lets the reader see all that was written; how many bytes of that it could not see before.
    pub(super) fn publish(&mut self) -> u64 {
        let news = self.tail - self.published;
        if news != 0 {
            self.place.indices().tail.0.store(self.tail, Release);
            self.published = self.tail;
        }
        news
    }

    /// Says whether the reader shall tell when it has made room.
    pub(super) fn starve(&mut self, starved: bool) {
        self.place.indices().starved.0.store(starved as u32, Relaxed);
    }

    /// Whether the reader has read anything since the last look at that.
    pub(super) fn has_changed(&self) -> bool {
        self.place.indices().head.0.load(Relaxed) != self.head
    }

    fn free(&self) -> usize {
        self.place.capacity - (self.tail - self.head) as usize
    }

    fn look(&mut self) -> Result<(), Garbage> {
        let head = self.place.indices().head.0.load(Acquire);
        if head < self.head || head > self.published {
            return Err(Garbage);
        }
        self.head = head;
        Ok(())
    }
}

/// The side that reads.
pub(super) struct Reader {
    place: Place,
    /// Bytes ever read.
    head: u64,
    /// Bytes that the writer had published when we last looked.
    tail: u64,
}

impl Reader {
    /// # Safety
    /// See the head of this file.
    pub(super) unsafe fn new(place: Place) -> Reader {
        Reader { place, head: 0, tail: 0 }
    }

    /// How many bytes there are to read.
    pub(super) fn look(&mut self) -> Result<usize, Garbage> {
        let tail = self.place.indices().tail.0.load(Acquire);
        if tail < self.tail || tail - self.head > self.place.capacity as u64 {
            return Err(Garbage);
        }
        self.tail = tail;
        Ok((tail - self.head) as usize)
    }

    /// Whether anything has been published that wasn't read.
    pub(super) fn has_changed(&self) -> bool {
        self.place.indices().tail.0.load(Relaxed) != self.head
    }

    /// What the last [`look`](Self::look) found, or its first piece, in place.
    ///
    /// # Safety
    /// The writer is in this process: see the head of this file.
    pub(super) unsafe fn bytes(&self) -> &[u8] {
        let (bytes, piece) = self.place.piece(self.head, (self.tail - self.head) as usize);
        // SAFETY: published, and not overwritten before `skip`.
        unsafe { slice::from_raw_parts(bytes, piece) }
    }

    /// Copies what the last [`look`](Self::look) found, or its first piece, as far as there is room for it.
    pub(super) fn copy_to(&self, room: &mut [u8]) -> usize {
        let (bytes, piece) = self.place.piece(self.head, (self.tail - self.head) as usize);
        let piece = piece.min(room.len());
        // SAFETY: inside the ring, of which `room` is no part. Whatever another process writes there meanwhile, each
        // byte of the copy has some value.
        unsafe { ptr::copy_nonoverlapping(bytes, room.as_mut_ptr(), piece) };
        piece
    }

    /// So many bytes have been read: they make room. Whether the writer waits for that, as it may have said before.
    pub(super) fn skip(&mut self, bytes: usize) {
        assert!(bytes as u64 <= self.tail - self.head);
        self.head += bytes as u64;
        self.place.indices().head.0.store(self.head, Release);
    }

    /// Whether the writer waits for room. What was [`skip`](Self::skip)ped has to be told before, by a fence.
    pub(super) fn writer_starves(&self) -> bool {
        self.place.indices().starved.0.load(Relaxed) != 0
    }
}

#[cfg(any(test, feature = "fuzzing"))]
#[path = "ring_strangers.rs"]
pub mod strangers;
#[cfg(test)]
#[path = "ring_tests.rs"]
mod tests;
