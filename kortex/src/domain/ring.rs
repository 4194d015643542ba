//! A ring of bytes in shared memory, between one writer and one reader in two domains.
//!
//! Indices count all bytes ever written and ever read, and never decrease. The remainder by the capacity is the
//! position in the ring. Each side keeps its own index private and publishes copies; the other side checks a copy
//! before it uses it. A peer that writes nonsense is found out ([`Garbage`]), or makes its reader read meaningless
//! bytes. No access is ever outside the ring.
//!
//! A writer reserves room and writes in place. The reader sees nothing before the writer [publishes](Writer::publish),
//! with one store for any number of frames. Bytes are contiguous if the ring is mapped twice in a row
//! ([`Place::mirrored`]); otherwise, bytes at its end are in two pieces.
//!
//! # Soundness
//!
//! The code that makes a [`Place`] promises that its memory stays as long as it is used, and that there is one writer
//! and one reader. The writer only writes after `head`, the reader only reads before `tail`, each as loaded with
//! `Acquire` after the other's `Release` store; so they never touch the same byte at once. A peer that breaks these
//! rules is in another process. [`Reader::bytes`] must not be used for it, because it could change bytes behind a
//! reference. [`Reader::copy_to`] copies each byte once, so the copy is stable.

use core::ptr;
use core::slice;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};

/// Has cache lines of its own: two, because processors fetch them in pairs.
#[repr(C, align(128))]
#[derive(Default)]
pub(super) struct Line<T>(pub(super) T);

/// What both sides of a ring share besides its bytes. All 0 at first.
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
    /// The first byte follows again after the last, so that every part of the ring is contiguous.
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

    /// The address of an index, and how many of `bytes` are contiguous there.
    fn piece(&self, index: u64, bytes: usize) -> (*mut u8, usize) {
        let offset = index as usize & (self.capacity - 1);
        let piece = if self.mirrored { bytes } else { bytes.min(self.capacity - offset) };
        // SAFETY: the offset is less than the capacity.
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

    /// Contiguous room for bytes: `least` if the ring has so much in all, else what there is.
    pub(super) fn room(&mut self, least: usize) -> Result<&mut [u8], Garbage> {
        if self.free() < least {
            self.look()?;
        }
        let (bytes, piece) = self.place.piece(self.tail, self.free());
        // SAFETY: the reader doesn't read behind `tail` before it is published. A process that does so all the same
        // sees bytes that aren't finished; nothing is read back here.
        Ok(unsafe { slice::from_raw_parts_mut(bytes, piece) })
    }

    /// Counts bytes that were written at the beginning of [`room`](Self::room).
    pub(super) fn commit(&mut self, bytes: usize) {
        assert!(bytes <= self.free());
        self.tail += bytes as u64;
    }

    /// Writes as many of the bytes as there is room for. Returns how many.
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

    /// Publishes all that was written. Returns how many bytes are newly visible.
    pub(super) fn publish(&mut self) -> u64 {
        let news = self.tail - self.published;
        if news != 0 {
            self.place.indices().tail.0.store(self.tail, Release);
            self.published = self.tail;
        }
        news
    }

    /// Says whether the reader is to tell when it has made room.
    pub(super) fn starve(&mut self, starved: bool) {
        self.place.indices().starved.0.store(starved as u32, Relaxed);
    }

    /// Whether the reader has read anything since the writer last looked.
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

    /// How many bytes can be read.
    pub(super) fn look(&mut self) -> Result<usize, Garbage> {
        let tail = self.place.indices().tail.0.load(Acquire);
        if tail < self.tail || tail - self.head > self.place.capacity as u64 {
            return Err(Garbage);
        }
        self.tail = tail;
        Ok((tail - self.head) as usize)
    }

    /// Whether unread bytes have been published.
    pub(super) fn has_changed(&self) -> bool {
        self.place.indices().tail.0.load(Relaxed) != self.head
    }

    /// The bytes that the last [`look`](Self::look) found, or their first piece, in place.
    ///
    /// # Safety
    /// The writer is in this process: see the head of this file.
    pub(super) unsafe fn bytes(&self) -> &[u8] {
        let (bytes, piece) = self.place.piece(self.head, (self.tail - self.head) as usize);
        // SAFETY: published, and not overwritten before `skip`.
        unsafe { slice::from_raw_parts(bytes, piece) }
    }

    /// Copies the bytes that the last [`look`](Self::look) found, or their first piece, as far as `room` reaches.
    pub(super) fn copy_to(&self, room: &mut [u8]) -> usize {
        let (bytes, piece) = self.place.piece(self.head, (self.tail - self.head) as usize);
        let piece = piece.min(room.len());
        // SAFETY: inside the ring, of which `room` is no part. Whatever another process writes there meanwhile, each
        // byte of the copy has some value.
        unsafe { ptr::copy_nonoverlapping(bytes, room.as_mut_ptr(), piece) };
        piece
    }

    /// Counts bytes as read, which makes room.
    pub(super) fn skip(&mut self, bytes: usize) {
        assert!(bytes as u64 <= self.tail - self.head);
        self.head += bytes as u64;
        self.place.indices().head.0.store(self.head, Release);
    }

    /// Whether the writer waits for room. A fence must come between [`skip`](Self::skip) and this.
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
