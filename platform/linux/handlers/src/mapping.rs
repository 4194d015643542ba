//! Mappings: memory of a map or a socket, or private memory.
//!
//! `unsafe` here: memory is mapped where nothing else is, and unmapped when its owner is dropped. Accesses are up to
//! the owner.

use std::io::Result;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::{NonNull, without_provenance_mut};
use std::slice;
use std::sync::atomic::AtomicU64;

use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

use crate::bpf::Map;

pub(crate) const PAGE: usize = 4096;

/// Pages that are mapped while this lives.
#[derive(Debug)]
pub(crate) struct Mapping {
    begin: NonNull<u8>,
    length: usize,
}

// SAFETY: a `Mapping` owns its mapping, which belongs to no thread.
unsafe impl Send for Mapping {}
// SAFETY: shared, it only tells the address.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps private zeros: at an unused address, or anywhere.
    pub fn new(address: Option<usize>, length: usize) -> Result<Mapping> {
        let flags = MapFlags::PRIVATE | MapFlags::POPULATE | at(address);
        // SAFETY: the flags let no other mapping be replaced.
        let begin = unsafe { mmap_anonymous(place(address), length, Self::BOTH, flags)? };
        Ok(Mapping::of(begin.cast(), length))
    }

    /// Maps a part of a descriptor's memory, shared.
    pub fn shared(
        of: BorrowedFd<'_>,
        address: Option<usize>,
        (from, length): (usize, usize),
        may_write: bool,
    ) -> Result<Mapping> {
        let protection = if may_write { Self::BOTH } else { ProtFlags::READ };
        let flags = MapFlags::SHARED | at(address);
        // SAFETY: the flags let no other mapping be replaced.
        let begin = unsafe { mmap(place(address), length, protection, flags, of, from as u64)? };
        Ok(Mapping::of(begin.cast(), length))
    }

    const BOTH: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

    fn of(begin: *mut u8, length: usize) -> Mapping {
        Mapping { begin: NonNull::new(begin).expect("nothing is mapped at 0"), length }
    }

    /// Its address.
    pub fn begin(&self) -> NonNull<u8> {
        self.begin
    }

    /// Its address and length.
    pub fn bytes(&self) -> NonNull<[u8]> {
        NonNull::slice_from_raw_parts(self.begin, self.length)
    }
}

fn place<T>(address: Option<usize>) -> *mut T {
    without_provenance_mut(address.unwrap_or(0))
}

fn at(address: Option<usize>) -> MapFlags {
    if address.is_some() { MapFlags::FIXED_NOREPLACE } else { MapFlags::empty() }
}

impl Map {
    /// Maps the first value of a mappable table, as numbers that its handler may change meanwhile. It is never
    /// unmapped.
    ///
    /// # Errors
    /// The table can't be mapped.
    pub fn words(&self) -> Result<&'static [AtomicU64]> {
        Ok(Box::leak(Box::new(Words::of(self)?)))
    }
}

/// The first value of a mappable table, mapped while this lives.
#[derive(Debug)]
pub(crate) struct Words(Mapping);

impl Words {
    pub fn of(map: &Map) -> Result<Words> {
        let length = map.definition().value as usize;
        Ok(Words(Mapping::shared(map.fd().as_fd(), None, (0, length), true)?))
    }
}

impl Deref for Words {
    type Target = [AtomicU64];

    fn deref(&self) -> &[AtomicU64] {
        let bytes = self.0.bytes();
        // SAFETY: the memory is mapped as long as this, with so many bytes, aligned to a page, and only accessed
        // atomically.
        unsafe { slice::from_raw_parts(bytes.cast().as_ptr(), bytes.len() / size_of::<AtomicU64>()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's, and not borrowed any more.
        let _ = unsafe { munmap(self.begin.as_ptr().cast(), self.length) };
    }
}
