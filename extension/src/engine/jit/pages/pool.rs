//! A pool of places for small pieces of code, without a system call for each.
//!
//! The memory is mapped twice: at one address it is written, at another executed. No address allows both at any time,
//! and only this module knows the one for writing. A program can't write there, because its accesses are proved or
//! confined. So the second mapping helps only an attacker who can already write to addresses of his choice in this
//! process, and finds that one.
//!
//! A processor must not execute stale instructions that it has fetched before a place was rewritten. So a place is
//! reused only after a barrier (membarrier), which discards prefetched instructions on all processors. One barrier
//! serves many places.
//!
//! A forked process would share the memory, so the mappings aren't inherited.

extern crate std;

use alloc::vec::Vec;
use core::ffi::c_void;
use core::ptr::null_mut;
use core::slice;
use core::sync::atomic::{AtomicBool, Ordering};
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::io::{Errno, Result};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous};
use rustix::thread::{MembarrierCommand, membarrier};

/// Bytes of a mapping.
const ARENA: usize = 1 << 20;
/// Bytes that are divided into places of one size at once.
const SPAN: usize = 1 << 16;
/// The smallest size of places. All are powers of two.
const SMALLEST: usize = 1 << 9;
const SIZES: usize = 6;
/// How many places are freed before a barrier makes them usable again.
const BATCH: usize = 32;

/// Fills unused memory: `int3`.
const NOTHING: u8 = 0xcc;

static POOL: Mutex<Option<Pool>> = Mutex::new(None);

/// Puts code into a place, if it is small enough and the system allows it.
pub(super) fn place(code: &[u8]) -> Option<Piece> {
    let size = size_for(code.len())?;
    let mut pool = pool();
    let is_here = pool.as_ref().is_some_and(|pool| pool.is_here.load(Ordering::Relaxed));
    if !is_here {
        // The first time, and in a forked process.
        *pool = Some(Pool::new().ok()?);
    }
    let pool = pool.as_mut()?;
    let place = pool.take(size).ok()?;
    // SAFETY: the place is mapped, as large as the code at least, and nobody else's.
    unsafe { place.written.copy_from_nonoverlapping(code.as_ptr(), code.len()) };
    Some(Piece { place, size, code: code.len(), is_here: pool.is_here })
}

fn pool() -> MutexGuard<'static, Option<Pool>> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The index of the smallest sufficient size.
fn size_for(bytes: usize) -> Option<usize> {
    let size = bytes.max(SMALLEST).next_power_of_two().trailing_zeros() - SMALLEST.trailing_zeros();
    Some(size as usize).filter(|&size| size < SIZES)
}

/// A piece of code, which owns its place.
#[derive(Debug)]
pub(super) struct Piece {
    place: Place,
    size: usize,
    code: usize,
    is_here: &'static AtomicBool,
}

/// Memory for code: where it is executed, and where it is written.
#[derive(Clone, Copy, Debug)]
struct Place {
    executed: *mut u8,
    written: *mut u8,
}

// SAFETY: the memory is never unmapped, and belongs to no thread.
unsafe impl Send for Place {}
// SAFETY: a place is written only by its owner, in `place` and `Piece::drop`, or before it has one.
unsafe impl Sync for Place {}

impl Piece {
    #[inline]
    pub fn code(&self) -> &[u8] {
        let is_here = self.is_here.load(Ordering::Relaxed);
        assert!(is_here, "this code was compiled before the process was forked; compile it again");
        // SAFETY: the place has so many bytes, and isn't written before this is dropped.
        unsafe { slice::from_raw_parts(self.place.executed, self.code) }
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        let mut pool = pool();
        if let Some(pool) = pool.as_mut()
            && self.is_here.load(Ordering::Relaxed)
        {
            // SAFETY: the place is this one's, and nobody borrows it any more.
            unsafe { self.place.written.write_bytes(NOTHING, self.code) };
            pool.given_up[self.size].push(self.place);
        }
    }
}

struct Pool {
    /// For each size, places that were free before the last barrier, and new ones.
    ready: [Vec<Place>; SIZES],
    given_up: [Vec<Place>; SIZES],
    /// The rest of the last mapping.
    rest: Option<(Place, usize)>,
    /// True in the process that has made the pool, but not in processes that were forked from it.
    is_here: &'static AtomicBool,
}

impl Pool {
    fn new() -> Result<Pool> {
        membarrier(MembarrierCommand::RegisterPrivateExpeditedSyncCore)?;
        // SAFETY: no address is demanded, so that no other mapping is replaced.
        let mark = unsafe {
            mmap_anonymous(null_mut(), 1 << 12, readable_and(ProtFlags::WRITE), MapFlags::PRIVATE)?
        };
        // SAFETY: the mapping is new. In a forked process its bytes become 0: false.
        unsafe { madvise(mark, 1 << 12, Advice::LinuxWipeOnFork)? };
        // SAFETY: the mapping is never unmapped, and only accessed as this atomic.
        let is_here = unsafe { AtomicBool::from_ptr(mark.cast()) };
        is_here.store(true, Ordering::Relaxed);
        Ok(Pool { ready: Default::default(), given_up: Default::default(), rest: None, is_here })
    }

    fn take(&mut self, size: usize) -> Result<Place> {
        if let Some(place) = self.ready[size].pop() {
            return Ok(place);
        }
        if self.given_up[size].len() >= BATCH {
            membarrier(MembarrierCommand::PrivateExpeditedSyncCore)?;
            core::mem::swap(&mut self.ready[size], &mut self.given_up[size]);
        } else {
            let span = self.span()?;
            let bytes = SMALLEST << size;
            self.ready[size].extend((0..SPAN / bytes).rev().map(|index| span.plus(index * bytes)));
        }
        self.ready[size].pop().ok_or(Errno::NOMEM)
    }

    fn span(&mut self) -> Result<Place> {
        let (first, left) = match self.rest {
            Some((rest, left)) if left > 0 => (rest, left),
            _ => (arena()?, ARENA),
        };
        // SAFETY: the span is mapped, and no place of it has an owner yet.
        unsafe { first.written.write_bytes(NOTHING, SPAN) };
        self.rest = Some((first.plus(SPAN), left - SPAN));
        Ok(first)
    }
}

impl Place {
    fn plus(self, bytes: usize) -> Place {
        Place { executed: self.executed.wrapping_add(bytes), written: self.written.wrapping_add(bytes) }
    }
}

/// Maps memory twice, for ever.
fn arena() -> Result<Place> {
    let file = file()?;
    ftruncate(&file, ARENA as u64)?;
    fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    let executed = map(super::near::near(ARENA), ProtFlags::EXEC, &file)?;
    let written = map(null_mut(), ProtFlags::WRITE, &file)?;
    Ok(Place { executed, written })
}

fn file() -> Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    match memfd_create("code", flags | MemfdFlags::EXEC) {
        // Before Linux 6.3 all files of memory are executable.
        Err(Errno::INVAL) => memfd_create("code", flags),
        result => result,
    }
}

fn map(wish: *mut c_void, allowed: ProtFlags, file: &OwnedFd) -> Result<*mut u8> {
    // SAFETY: the address is only a hint, so that no other mapping is replaced.
    let begin = unsafe { mmap(wish, ARENA, readable_and(allowed), MapFlags::SHARED, file, 0)? };
    // SAFETY: the mapping is new; in this process nothing changes.
    unsafe { madvise(begin, ARENA, Advice::LinuxDontFork)? };
    Ok(begin.cast())
}

fn readable_and(allowed: ProtFlags) -> ProtFlags {
    ProtFlags::READ | allowed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_up_leaves_nothing() {
        let piece = place(&[0x90; 100]).unwrap();
        let Place { executed, .. } = piece.place;
        drop(piece);
        // SAFETY: it stays mapped. If another test has the place by now, other code is there.
        let left = unsafe { slice::from_raw_parts(executed, 100) };
        assert_ne!(left, [0x90; 100]);
    }

    #[test]
    fn places_are_used_again_after_a_while() {
        let mut places: Vec<_> = (0..3000)
            .map(|number| {
                let piece = place(&[number as u8; 2000]).unwrap();
                assert_eq!(piece.code(), [number as u8; 2000]);
                piece.place.executed
            })
            .collect();
        places.sort_unstable();
        places.dedup();
        assert!(places.len() < 200, "{}", places.len());
    }

    #[test]
    fn large_code_is_none_of_its_business() {
        assert_eq!(size_for(0), Some(0));
        assert_eq!(size_for(513), Some(1));
        assert_eq!(size_for(1 << 14), Some(5));
        assert!(place(&[0; (1 << 14) + 1]).is_none());
    }
}
