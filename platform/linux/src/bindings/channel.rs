//! A channel of bytes between two domains, in both directions: two rings in memory that both map, a bell at each end.
//!
//! The memory is a sealed `memfd`: the other side can write into it, but can't take it away. Both ends may be in one
//! process (two threads), or one of them goes to another process as an [`Offer`]: its three descriptors.
//!
//! # Soundness
//!
//! A mapping lives as long as the end that uses it, which is one writer and one reader of its rings; the other end
//! is made only once. What the rings say about peers that are not trusted holds here.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering::*, fence};
use std::{mem, ptr};

use super::bell;
use super::ring::{Garbage, Indices, Line, Place, Reader, Writer};

/// Bytes of each ring.
pub(crate) const CAPACITY: usize = 256 * 1024;
/// Where the bytes of the first ring begin.
const HEAD: usize = 4096;
/// Most bytes that are copied at once from a ring whose writer isn't trusted: they stay near the processor.
const SCOOP: usize = 16 * 1024;

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

/// Whether the other side may be believed to keep to the rules of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// It is the same program, on another thread.
    SameProgram,
    /// It is another process.
    None,
}

/// What an end is made of: to be given to the process where it will be.
pub(crate) struct Offer {
    memory: OwnedFd,
    /// What wakes each side.
    events: [OwnedFd; 2],
    side: usize,
}

/// The memory, mapped: header, then each ring twice.
struct Mapping(*mut u8);

/// One end.
pub(crate) struct End {
    mapping: Mapping,
    events: [OwnedFd; 2],
    side: usize,
    trust: Trust,
    writer: Writer,
    reader: Reader,
    /// Published and not told.
    unrung: bool,
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

/// Makes both ends of a new channel.
pub(crate) fn pair() -> io::Result<(Offer, Offer)> {
    let memory = sealed_memory(HEAD + 2 * CAPACITY)?;
    let events = [event()?, event()?];
    let other = [events[0].try_clone()?, events[1].try_clone()?];
    Ok((Offer { memory: memory.try_clone()?, events, side: 0 }, Offer { memory, events: other, side: 1 }))
}

fn sealed_memory(bytes: usize) -> io::Result<OwnedFd> {
    // SAFETY: a constant name; the descriptor is new.
    let memory = unsafe {
        let fd =
            libc::memfd_create(c"drystone channel".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
        OwnedFd::from_raw_fd(succeeded(fd)?)
    };
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: plain numbers.
    unsafe {
        succeeded(libc::ftruncate(memory.as_raw_fd(), bytes as libc::off_t))?;
        succeeded(libc::fcntl(memory.as_raw_fd(), libc::F_ADD_SEALS, seals))?;
    }
    Ok(memory)
}

fn event() -> io::Result<OwnedFd> {
    // SAFETY: plain numbers; the descriptor is new.
    unsafe { Ok(OwnedFd::from_raw_fd(succeeded(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK))?)) }
}

fn succeeded(result: i32) -> io::Result<i32> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

impl Offer {
    /// Of descriptors that have come from another process, in the order of [`descriptors`](Self::descriptors).
    pub(crate) fn received(descriptors: [OwnedFd; 3], side: usize) -> Offer {
        let [memory, first, second] = descriptors;
        Offer { memory, events: [first, second], side: side & 1 }
    }

    /// To be sent.
    pub(crate) fn descriptors(&self) -> [BorrowedFd<'_>; 3] {
        [self.memory.as_fd(), self.events[0].as_fd(), self.events[1].as_fd()]
    }

    /// The end itself.
    pub(crate) fn open(self, trust: Trust) -> io::Result<End> {
        let Offer { memory, events, side } = self;
        let mapping = Mapping::new(&memory)?;
        // SAFETY: see the head of this file.
        let (writer, reader) =
            unsafe { (Writer::new(mapping.place(side)), Reader::new(mapping.place(1 - side))) };
        let copied = if trust == Trust::None { vec![0; SCOOP].into() } else { Box::default() };
        let (unrung, skipped, starves, seen, ignored) = (false, false, false, 0, false);
        Ok(End {
            mapping,
            events,
            side,
            trust,
            writer,
            reader,
            unrung,
            skipped,
            starves,
            seen,
            ignored,
            copied,
        })
    }
}

impl Mapping {
    const BYTES: usize = HEAD + 4 * CAPACITY;

    fn new(memory: &OwnedFd) -> io::Result<Mapping> {
        let map = |at: *mut u8, bytes, protection, flags, fd, offset| {
            // SAFETY: a fresh mapping, or a part of the one that was made just before.
            let mapped =
                unsafe { libc::mmap(at.cast(), bytes, protection, flags, fd, offset as libc::off_t) };
            if mapped == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(mapped.cast::<u8>()) }
        };
        let whole = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let mapping = Mapping(map(ptr::null_mut(), Self::BYTES, libc::PROT_NONE, whole, -1, 0)?);
        let (usable, here) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_FIXED);
        map(mapping.0, HEAD, usable, here, memory.as_raw_fd(), 0)?;
        for piece in 0..4 {
            let from = HEAD + piece / 2 * CAPACITY;
            // SAFETY: inside the mapping.
            let at = unsafe { mapping.0.add(HEAD + piece * CAPACITY) };
            map(at, CAPACITY, usable, here, memory.as_raw_fd(), from)?;
        }
        Ok(mapping)
    }

    fn header(&self) -> &Header {
        // SAFETY: the memory begins with it, and all of it is atomic.
        unsafe { &*self.0.cast() }
    }

    /// The ring that this side writes.
    fn place(&self, side: usize) -> Place {
        // SAFETY: inside the mapping.
        let bytes = unsafe { self.0.add(HEAD + side * 2 * CAPACITY) };
        Place { indices: &raw const self.header().rings[side], bytes, capacity: CAPACITY, mirrored: true }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the whole of what `new` mapped.
        unsafe { libc::munmap(self.0.cast(), Mapping::BYTES) };
    }
}

impl End {
    /// Writes as many of the bytes as there is room for.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<usize, Garbage> {
        self.writer.write(bytes)
    }

    /// Says whether there are bytes left for which there was no room: the reader will tell when it has made some.
    pub(crate) fn starve(&mut self, starves: bool) {
        if starves != self.starves {
            self.starves = starves;
            self.writer.starve(starves);
        }
    }

    /// Gives what has come to `take`, in pieces; whether that was all. Of a writer that doesn't stop it is about as much as there
    /// is room for in the ring.
    pub(crate) fn read(&mut self, take: &mut dyn FnMut(&[u8])) -> Result<bool, Garbage> {
        let mut read = 0;
        while read < CAPACITY {
            if self.reader.look()? == 0 {
                return Ok(true);
            }
            let taken = match self.trust {
                Trust::SameProgram => {
                    // SAFETY: the writer is in this process.
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
    pub(crate) fn publish(&mut self) {
        self.unrung |= self.writer.publish();
    }

    /// Lets the other side see what was written, and wakes it if it waits for that, or for room that has been made.
    pub(crate) fn tell(&mut self) {
        self.publish();
        let mut news = mem::take(&mut self.unrung);
        if mem::take(&mut self.skipped) {
            fence(SeqCst);
            news |= self.reader.writer_starves();
        }
        if news {
            self.ring();
        }
    }

    /// Wakes the other side if it sleeps.
    pub(crate) fn ring(&self) {
        let other = 1 - self.side;
        if bell::knock(&self.mapping.header().bells[other].0) {
            bell::wake(self.events[other].as_fd());
        }
    }

    /// Sets this side's sign, which the other sees after all that was written before.
    pub(crate) fn show(&mut self, sign: u32) {
        self.publish();
        self.mapping.header().signs[self.side].0.store(sign, Release);
        self.ring();
    }

    /// The other side's sign. What that one wrote before may not have been read.
    pub(crate) fn sign(&mut self) -> u32 {
        self.seen = self.others_sign();
        self.seen
    }

    fn others_sign(&self) -> u32 {
        self.mapping.header().signs[1 - self.side].0.load(Acquire)
    }

    /// Whether there is anything that this side hasn't seen: bytes, room that it waits for, a sign.
    pub(crate) fn has_news(&self) -> bool {
        if self.ignored {
            return false;
        }
        self.reader.has_changed()
            || (self.starves && self.writer.has_changed())
            || self.others_sign() != self.seen
    }

    /// Whether it is worth trying to write: there was room, or there is new room.
    pub(crate) fn has_room(&self) -> bool {
        !self.starves || self.writer.has_changed()
    }

    /// Nothing that comes is news any more.
    pub(crate) fn ignore(&mut self) {
        self.ignored = true;
    }

    /// What wakes this side when it sleeps.
    pub(crate) fn event(&self) -> BorrowedFd<'_> {
        self.events[self.side].as_fd()
    }

    /// This side goes to sleep, unless it finds news when it looks once more, now.
    pub(crate) fn lie_down(&self) {
        bell::lie_down(&self.mapping.header().bells[self.side].0);
    }

    /// This side is awake again.
    pub(crate) fn get_up(&self) {
        bell::get_up(&self.mapping.header().bells[self.side].0);
    }
}

#[cfg(test)]
#[path = "channel_tests.rs"]
mod tests;
