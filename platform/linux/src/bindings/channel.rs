//! The memory of a channel between two domains, and its bells.
//!
//! The memory is a sealed `memfd`: the other side can write to it, but can't shrink it. Both ends may be in one process
//! (two threads), or one end goes to another process as an [`Offer`]: its three descriptors.
//!
//! A side sleeps in its epoll. An eventfd wakes it, which the epoll watches edge-triggered: nothing has to read it, and
//! an edge that comes before the sleep isn't lost. (A futex would sleep as well, but could be woken by nothing else;
//! `futex_waitv` with a second word for other events costs as much as the epoll.)
//!
//! # Soundness
//!
//! A mapping lives as long as the end that uses it, and each end is made only once. System calls get numbers and valid
//! structures.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;
use std::rc::Rc;

use drystone_kortex::domain::{End, Memory, Trust, Wake};
use mio::unix::SourceFd;

use drystone_reactor::Reactor;

/// Bytes of each ring.
const CAPACITY: usize = 256 * 1024;

/// An end that isn't open yet; it can be sent to another process.
pub(crate) struct Offer {
    memory: OwnedFd,
    /// The eventfds that wake each side.
    events: [OwnedFd; 2],
    side: usize,
}

/// The mapped memory.
struct Mapping(*mut u8);

/// This side's resources.
struct Channel {
    _mapping: Mapping,
    /// Wakes the other side.
    other: OwnedFd,
    /// Wakes this side, where it is watched.
    own: OwnedFd,
    source: usize,
    reactor: Rc<Reactor>,
}

/// Makes both ends of a new channel.
pub(crate) fn pair() -> io::Result<(Offer, Offer)> {
    let memory = sealed_memory(Memory::bytes(CAPACITY, false))?;
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
    // SAFETY: these calls take plain numbers only.
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
    /// An end from descriptors that another process sent, in the order of [`descriptors`](Self::descriptors).
    pub(crate) fn received(descriptors: [OwnedFd; 3], side: usize) -> Offer {
        let [memory, first, second] = descriptors;
        Offer { memory, events: [first, second], side: side & 1 }
    }

    /// The descriptors to be sent.
    pub(crate) fn descriptors(&self) -> [BorrowedFd<'_>; 3] {
        [self.memory.as_fd(), self.events[0].as_fd(), self.events[1].as_fd()]
    }

    /// Opens the end. Its news wake this reactor.
    pub(crate) fn open(self, trust: Trust, reactor: &Rc<Reactor>) -> io::Result<End> {
        let Offer { memory, events, side } = self;
        let mapping = Mapping::new(&memory)?;
        let memory = Memory { base: mapping.0, capacity: CAPACITY, mirrored: true };
        let [first, second] = events;
        let (own, other) = if side == 0 { (first, second) } else { (second, first) };
        let source = reactor.watch(&mut SourceFd(&own.as_raw_fd()))?;
        let channel = Channel { _mapping: mapping, other, own, source, reactor: reactor.clone() };
        // SAFETY: see the head of this file.
        Ok(unsafe { End::new(memory, side, trust, Box::new(channel)) })
    }
}

impl Wake for Channel {
    fn wake(&self) {
        let one = 1u64;
        // SAFETY: see the head of this file. If its count is full, there has been an edge already.
        unsafe { libc::write(self.other.as_raw_fd(), (&raw const one).cast(), size_of_val(&one)) };
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.reactor.unwatch(self.source, &mut SourceFd(&self.own.as_raw_fd()));
    }
}

impl Mapping {
    const BYTES: usize = Memory::bytes(CAPACITY, true);

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
        let (once, twice) = (Memory::rings(CAPACITY, false), Memory::rings(CAPACITY, true));
        map(mapping.0, once[0], usable, here, memory.as_raw_fd(), 0)?;
        for (from, to) in once.into_iter().zip(twice) {
            for to in [to, to + CAPACITY] {
                // SAFETY: the offset lies inside the mapping.
                let at = unsafe { mapping.0.add(to) };
                map(at, CAPACITY, usable, here, memory.as_raw_fd(), from)?;
            }
        }
        Ok(mapping)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this is the whole mapping that `new` made.
        unsafe { libc::munmap(self.0.cast(), Mapping::BYTES) };
    }
}

#[cfg(test)]
#[path = "channel_tests.rs"]
mod tests;
