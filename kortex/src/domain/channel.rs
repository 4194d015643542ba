//! A channel of bytes between two domains, in both directions: two rings in shared memory, and a bell and a sign for
//! each side.
//!
//! The domains' platform provides the memory ([`Memory`]), and the means to wake the other side ([`Wake`]).
//!
//! # Soundness
//!
//! The code that makes an [`End`] promises two things: the memory stays as long as the end's [`Wake`], and no other end
//! has the same side, so each ring has one writer and one reader. For untrusted peers, see `ring`.

use alloc::boxed::Box;
use alloc::vec;
use core::mem;
use core::sync::atomic::{AtomicU32, Ordering::*, fence};

use super::bell;
use super::ring::{Indices, Line, Place, Reader, Writer};

pub use super::ring::Garbage;

/// Where the bytes of the first ring begin.
const HEAD: usize = 4096;
/// Most bytes that are copied at once from an untrusted writer's ring, so that they stay in the processor's cache.
const SCOOP: usize = 16 * 1024;
/// From so many bytes on, the other side is woken although this one goes on. If it has a processor to itself, it starts
/// sooner; if it has none, the sides alternate, and their turns shouldn't be short.
const WORTH_WAKING: u64 = 16 * 1024;

/// The first page.
#[repr(C)]
#[derive(Default)]
struct Header {
    /// From the first side to the second, and back.
    rings: [Indices; 2],
    /// For each side: whether it sleeps.
    bells: [Line<AtomicU32>; 2],
    /// For each side: its sign, a number with a meaning for the channel's users. 0 at first.
    signs: [Line<AtomicU32>; 2],
}

const _: () = assert!(size_of::<Header>() <= HEAD);

/// The memory of a channel as one side sees it, all 0 at first: a page that both sides share, then the rings.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// The first address, a multiple of 128.
    pub base: *mut u8,
    /// Bytes of each ring: a power of two, the same for both sides.
    pub capacity: usize,
    /// Each ring is mapped twice in a row, so that every part of it is contiguous.
    pub mirrored: bool,
}

impl Memory {
    /// Where each ring's bytes begin.
    pub const fn rings(capacity: usize, mirrored: bool) -> [usize; 2] {
        [HEAD, HEAD + if mirrored { 2 * capacity } else { capacity }]
    }

    /// The size of the memory, as a side sees it.
    pub const fn bytes(capacity: usize, mirrored: bool) -> usize {
        let [first, second] = Self::rings(capacity, mirrored);
        second + (second - first)
    }

    /// The ring that a side writes.
    fn place(self, side: usize) -> Place {
        let Memory { base, capacity, mirrored } = self;
        // SAFETY: inside the memory, which begins with the header.
        unsafe {
            let indices = &raw const (*base.cast::<Header>()).rings[side];
            let bytes = base.add(Self::rings(capacity, mirrored)[side]);
            Place { indices, bytes, capacity, mirrored }
        }
    }
}

/// Wakes the domain at the other end, and keeps the memory alive.
pub trait Wake: 'static {
    /// The other side sleeps, or is about to: wakes it.
    fn wake(&self);
}

/// Whether the other side is trusted to obey the rules of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The same program, on another thread.
    SameProgram,
    /// Another program.
    None,
}

/// One end of a channel.
pub struct End {
    memory: Memory,
    side: usize,
    other: Box<dyn Wake>,
    trust: Trust,
    writer: Writer,
    reader: Reader,
    /// Bytes published since the other side was last told.
    unrung: u64,
    /// Bytes were read since the other side was last told.
    skipped: bool,
    /// Bytes are waiting for room.
    starves: bool,
    /// The other side's sign, as last seen.
    seen: u32,
    /// This side takes no news any more.
    ignored: bool,
    copied: Box<[u8]>,
}

impl End {
    /// The end of side 0 or 1.
    ///
    /// # Safety
    /// See the head of this file.
    pub unsafe fn new(memory: Memory, side: usize, trust: Trust, other: Box<dyn Wake>) -> End {
        assert!(memory.capacity.is_power_of_two() && memory.base.addr().is_multiple_of(align_of::<Header>()));
        // SAFETY: the caller promises that the memory stays, and that no other end has the same side.
        let (writer, reader) =
            unsafe { (Writer::new(memory.place(side)), Reader::new(memory.place(1 - side))) };
        let copied = if trust == Trust::None { vec![0; SCOOP].into() } else { Box::default() };
        let (unrung, skipped, starves, seen, ignored) = (0, false, false, 0, false);
        End { memory, side, other, trust, writer, reader, unrung, skipped, starves, seen, ignored, copied }
    }

    fn header(&self) -> &Header {
        // SAFETY: the memory begins with it, and all of it is atomic.
        unsafe { &*self.memory.base.cast() }
    }

    /// Writes as many of the bytes as there is room for. Returns how many.
    pub fn write(&mut self, bytes: &[u8]) -> Result<usize, Garbage> {
        self.writer.write(bytes)
    }

    /// Says whether bytes are waiting for room. If so, the reader tells this side when it has made some.
    pub fn starve(&mut self, starves: bool) {
        if starves != self.starves {
            self.starves = starves;
            self.writer.starve(starves);
        }
    }

    /// Passes received bytes to `take`, in pieces. Returns whether those were all: a call takes little more than a full
    /// ring from a writer that doesn't stop.
    pub fn read(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, Garbage> {
        let mut read = 0;
        while read < self.memory.capacity {
            if self.reader.look()? == 0 {
                return Ok(true);
            }
            let taken = match self.trust {
                Trust::SameProgram => {
                    // SAFETY: the writer is in the same program, and obeys the rules of memory.
                    let bytes = unsafe { self.reader.bytes() };
                    take(bytes);
                    bytes.len()
                }
                Trust::None => {
                    let copied = self.reader.copy_to(&mut self.copied);
                    take(&self.copied[..copied]);
                    copied
                }
            };
            self.reader.skip(taken);
            self.skipped = true;
            read += taken;
        }
        Ok(self.reader.look()? == 0)
    }

    /// Publishes what was written, without waking the other side. If it is awake, it may begin.
    pub fn publish(&mut self) {
        self.unrung += self.writer.publish();
    }

    /// Publishes what was written. Wakes the other side if it sleeps and there are bytes for it, or room that it waits
    /// for.
    pub fn tell(&mut self) {
        self.publish();
        let mut news = mem::take(&mut self.unrung) != 0;
        if mem::take(&mut self.skipped) {
            fence(SeqCst);
            news |= self.reader.writer_starves();
        }
        if news {
            self.ring();
        }
    }

    /// Publishes what was written, and wakes the other side only if it is much. Before this side rests, it must
    /// [`tell`](Self::tell) of the rest.
    pub fn tell_of_much(&mut self) {
        self.publish();
        if self.unrung >= WORTH_WAKING {
            self.tell();
        }
    }

    /// Whether the other side may sleep although there are bytes for it.
    pub fn has_to_tell(&self) -> bool {
        self.unrung != 0
    }

    /// Wakes the other side if it sleeps.
    fn ring(&self) {
        if bell::knock(&self.header().bells[1 - self.side].0) {
            self.other.wake();
        }
    }

    /// Shows a sign. The other side sees it after all that was written before.
    pub fn show(&mut self, sign: u32) {
        self.publish();
        self.header().signs[self.side].0.store(sign, Release);
        self.ring();
    }

    /// The other side's sign. Bytes that it wrote before may still be unread.
    pub fn sign(&mut self) -> u32 {
        self.seen = self.others_sign();
        self.seen
    }

    fn others_sign(&self) -> u32 {
        self.header().signs[1 - self.side].0.load(Acquire)
    }

    /// Whether there is news for this side: bytes, room that it waits for, or a sign.
    pub fn has_news(&self) -> bool {
        if self.ignored {
            return false;
        }
        self.reader.has_changed()
            || (self.starves && self.writer.has_changed())
            || self.others_sign() != self.seen
    }

    /// Whether a write may succeed: there was room before, or there is new room.
    pub fn has_room(&self) -> bool {
        !self.starves || self.writer.has_changed()
    }

    /// From now on nothing counts as news.
    pub fn ignore(&mut self) {
        self.ignored = true;
    }

    /// This side goes to sleep, unless its next look finds news.
    pub fn lie_down(&self) {
        bell::lie_down(&self.header().bells[self.side].0);
    }

    /// This side is awake again.
    pub fn get_up(&self) {
        bell::get_up(&self.header().bells[self.side].0);
    }
}

#[cfg(test)]
#[path = "channel_tests.rs"]
pub(super) mod tests;
