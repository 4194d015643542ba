//! A channel of bytes between two domains, in both directions: two rings in memory that both see, a bell at each end.
//!
//! Whose domains they are gives that memory ([`Memory`]), and what wakes the other side ([`Wake`]).
//!
//! # Soundness
//!
//! Who makes an [`End`] promises that the memory is there as long as its [`Wake`] is kept, and that this is the only
//! end of its side: one writer and one reader of its rings. What the rings say about peers that are not trusted holds
//! here.

use alloc::boxed::Box;
use alloc::vec;
use core::mem;
use core::sync::atomic::{AtomicU32, Ordering::*, fence};

use super::bell;
use super::ring::{Indices, Line, Place, Reader, Writer};

pub use super::ring::Garbage;

/// Where the bytes of the first ring begin.
const HEAD: usize = 4096;
/// Most bytes that are copied at once from a ring whose writer isn't trusted: they stay near the processor.
const SCOOP: usize = 16 * 1024;
/// For so many bytes it is worth waking the other side while this one goes on. It is there sooner then if it has a
/// processor for itself; if it has none, both take turns, which had better not be short.
const WORTH_WAKING: u64 = 16 * 1024;

/// The first page.
#[repr(C)]
#[derive(Default)]
struct Header {
    /// From the first side to the second, and back.
    rings: [Indices; 2],
    /// Whether each side sleeps.
    bells: [Line<AtomicU32>; 2],
    /// How each side is: a number; what it means is for those who use the channel. 0 at first.
    signs: [Line<AtomicU32>; 2],
}

const _: () = assert!(size_of::<Header>() <= HEAD);

/// The memory of a channel as one side sees it, all 0 at first: a page for what both sides tell each other, then the
/// rings.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Where it begins: at a multiple of 128.
    pub base: *mut u8,
    /// Bytes of each ring: a power of two, the same for both sides.
    pub capacity: usize,
    /// Each ring is there twice in a row, so that every part of it is one piece.
    pub mirrored: bool,
}

impl Memory {
    /// Where each ring's bytes begin.
    pub const fn rings(capacity: usize, mirrored: bool) -> [usize; 2] {
        [HEAD, HEAD + if mirrored { 2 * capacity } else { capacity }]
    }

    /// How many bytes there are, as a side sees them.
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

/// What one end has of the domain at the other: it keeps the memory.
pub trait Wake: 'static {
    /// The other side sleeps: ends that, or the sleep that it is about to begin.
    fn wake(&self);
}

/// Whether the other side may be believed to keep to the rules of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It is the same program, on another thread.
    SameProgram,
    /// It is another program.
    None,
}

/// One end.
pub struct End {
    memory: Memory,
    side: usize,
    other: Box<dyn Wake>,
    trust: Trust,
    writer: Writer,
    reader: Reader,
    /// Bytes published and not told.
    unrung: u64,
    /// Read and not told.
    skipped: bool,
    /// There are bytes for which there was no room.
    starves: bool,
    /// The other side's sign as it was seen last.
    seen: u32,
    /// Nobody wants to know what comes.
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
        // SAFETY: as the caller promises.
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

    /// Writes as many of the bytes as there is room for.
    pub fn write(&mut self, bytes: &[u8]) -> Result<usize, Garbage> {
        self.writer.write(bytes)
    }

    /// Says whether there are bytes left for which there was no room: the reader will tell when it has made some.
    pub fn starve(&mut self, starves: bool) {
        if starves != self.starves {
            self.starves = starves;
            self.writer.starve(starves);
        }
    }

    /// Gives what has come to `take`, in pieces; whether that was all. Of a writer that doesn't stop it is about as
    /// much as there is room for in the ring.
    pub fn read(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, Garbage> {
        let mut read = 0;
        while read < self.memory.capacity {
            if self.reader.look()? == 0 {
                return Ok(true);
            }
            let taken = match self.trust {
                Trust::SameProgram => {
                    // SAFETY: the writer keeps to the rules.
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

    /// Lets the other side see what was written, without waking it: if it is awake it may begin.
    pub fn publish(&mut self) {
        self.unrung += self.writer.publish();
    }

    /// Lets the other side see what was written, and wakes it if it waits for that, or for room that has been made.
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

    /// Lets the other side see what was written; wakes it only for much. Before this side rests it has to
    /// [`tell`](Self::tell) of the rest.
    pub fn tell_of_much(&mut self) {
        self.publish();
        if self.unrung >= WORTH_WAKING {
            self.tell();
        }
    }

    /// Whether the other side may sleep though there is something for it.
    pub fn has_to_tell(&self) -> bool {
        self.unrung != 0
    }

    /// Wakes the other side if it sleeps.
    fn ring(&self) {
        if bell::knock(&self.header().bells[1 - self.side].0) {
            self.other.wake();
        }
    }

    /// Sets this side's sign, which the other sees after all that was written before.
    pub fn show(&mut self, sign: u32) {
        self.publish();
        self.header().signs[self.side].0.store(sign, Release);
        self.ring();
    }

    /// The other side's sign. What that one wrote before may not have been read.
    pub fn sign(&mut self) -> u32 {
        self.seen = self.others_sign();
        self.seen
    }

    fn others_sign(&self) -> u32 {
        self.header().signs[1 - self.side].0.load(Acquire)
    }

    /// Whether there is anything that this side hasn't seen: bytes, room that it waits for, a sign.
    pub fn has_news(&self) -> bool {
        if self.ignored {
            return false;
        }
        self.reader.has_changed()
            || (self.starves && self.writer.has_changed())
            || self.others_sign() != self.seen
    }

    /// Whether it is worth trying to write: there was room, or there is new room.
    pub fn has_room(&self) -> bool {
        !self.starves || self.writer.has_changed()
    }

    /// Nothing that comes is news any more.
    pub fn ignore(&mut self) {
        self.ignored = true;
    }

    /// This side goes to sleep, unless it finds news when it looks once more, now.
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
