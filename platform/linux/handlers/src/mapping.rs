//! Memory of this process that is had from the kernel: of a map, of a socket, or nobody else's.
//!
//! `unsafe` here: memory is mapped, and unmapped. That is sound because it is mapped only where nothing is, and
//! unmapped when the one who has it is dropped; what is done with it until then is said where that is done.

use std::io::Result;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::{NonNull, without_provenance_mut};
use std::slice;
use std::sync::atomic::AtomicU64;

use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

use crate::bpf::Map;

pub(crate) const PAGE: usize = 4096;

/// Pages that stay mapped as long as this lives.
#[derive(Debug)]
pub(crate) struct Mapping {
    begin: NonNull<u8>,
    length: usize,
}

// SAFETY: it only says where they are.
unsafe impl Send for Mapping {}
// SAFETY: the same.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Zeros: at an address where nothing is, or anywhere.
    pub fn new(address: Option<usize>, length: usize) -> Result<Mapping> {
        let flags = MapFlags::PRIVATE | MapFlags::POPULATE | at(address);
        // SAFETY: nothing that is mapped is replaced.
        let begin = unsafe { mmap_anonymous(place(address), length, Self::BOTH, flags)? };
        Ok(Mapping::of(begin.cast(), length))
    }

    /// A part of what a descriptor stands for, which others have, too.
    pub fn shared(
        of: BorrowedFd<'_>,
        address: Option<usize>,
        (from, length): (usize, usize),
        may_write: bool,
    ) -> Result<Mapping> {
        let protection = if may_write { Self::BOTH } else { ProtFlags::READ };
        let flags = MapFlags::SHARED | at(address);
        // SAFETY: nothing that is mapped is replaced.
        let begin = unsafe { mmap(place(address), length, protection, flags, of, from as u64)? };
        Ok(Mapping::of(begin.cast(), length))
    }

    const BOTH: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

    fn of(begin: *mut u8, length: usize) -> Mapping {
        Mapping { begin: NonNull::new(begin).expect("nothing is mapped at 0"), length }
    }

    /// Where it begins.
    pub fn begin(&self) -> NonNull<u8> {
        self.begin
    }

    /// All of it.
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
    /// The first value of a table that an application can map, as numbers that its handler may change meanwhile. It is
    /// mapped for good.
    ///
    /// # Errors
    /// It can't be mapped.
    pub fn words(&self) -> Result<&'static [AtomicU64]> {
        Ok(Box::leak(Box::new(Words::of(self)?)))
    }
}

/// The first value of such a table, as long as this lives.
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
        // SAFETY: it is mapped as long as this, with as many bytes, and begins with a page; all numbers are numbers.
        unsafe { slice::from_raw_parts(bytes.cast().as_ptr(), bytes.len() / size_of::<AtomicU64>()) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: it was mapped, and nobody has it any more.
        let _ = unsafe { munmap(self.begin.as_ptr().cast(), self.length) };
    }
}
