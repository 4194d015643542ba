//! Places for small pieces of code, without a system call for each.
//!
//! The memory is mapped twice: at one address it is written, at another executed. No address allows both, at any time;
//! only this module knows the one for writing; and there is nothing at it but code that was compiled. A program can't
//! write there: its accesses are proved, or confined. So this gives away nothing to who can't already write to
//! addresses of his choice in this process, and who finds out which.
//!
//! What a processor read before others wrote there must not be executed. Processors see to that themselves where they
//! execute what they wrote long before; and a piece is used again only after a barrier, which makes every one of them
//! forget what it read ahead. There is one for many pieces.
//!
//! A forked process would share the memory, so it gets none of it.

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

/// Bytes that are mapped at once.
const ARENA: usize = 1 << 20;
/// Bytes that are made places of one size at once.
const SPAN: usize = 1 << 16;
/// Sizes of places are powers of two, from this one on.
const SMALLEST: usize = 1 << 9;
const SIZES: usize = 6;
/// As many are given up before there is a barrier for them.
const BATCH: usize = 32;

/// What lies where there is no code: `int3`.
const NOTHING: u8 = 0xcc;

static POOL: Mutex<Option<Pool>> = Mutex::new(None);

/// Puts code into a place, if it is small enough and the system allows it.
pub(super) fn place(code: &[u8]) -> Option<Piece> {
    let size = size_for(code.len())?;
    let mut pool = pool();
    let is_here = pool.as_ref().is_some_and(|pool| pool.is_here.load(Ordering::Relaxed));
    if !is_here {
        // At the first time, and in a process that was forked.
        *pool = Some(Pool::new().ok()?);
    }
    let pool = pool.as_mut()?;
    let place = pool.take(size).ok()?;
    // SAFETY: the place is larger than the code, and was given to nobody.
    unsafe { place.written.copy_from_nonoverlapping(code.as_ptr(), code.len()) };
    Some(Piece { place, size, code: code.len(), is_here: pool.is_here })
}

fn pool() -> MutexGuard<'static, Option<Pool>> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Which size of places is enough.
fn size_for(bytes: usize) -> Option<usize> {
    let size = bytes.max(SMALLEST).next_power_of_two().trailing_zeros() - SMALLEST.trailing_zeros();
    Some(size as usize).filter(|&size| size < SIZES)
}

/// A piece of code.
#[derive(Debug)]
pub(super) struct Piece {
    place: Place,
    size: usize,
    code: usize,
    is_here: &'static AtomicBool,
}

/// Where it is executed, and where written.
#[derive(Clone, Copy, Debug)]
struct Place {
    executed: *mut u8,
    written: *mut u8,
}

// SAFETY: it is memory of the process, which is there for ever; who has it is who may use it.
unsafe impl Send for Place {}
// SAFETY: it is changed only by who has it alone.
unsafe impl Sync for Place {}

impl Piece {
    #[inline]
    pub fn code(&self) -> &[u8] {
        let is_here = self.is_here.load(Ordering::Relaxed);
        assert!(is_here, "this code was compiled before the process was forked; compile it again");
        // SAFETY: they were written when it was made, and won't be again until this is dropped.
        unsafe { slice::from_raw_parts(self.place.executed, self.code) }
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        let mut pool = pool();
        if let Some(pool) = pool.as_mut()
            && self.is_here.load(Ordering::Relaxed)
        {
            // SAFETY: the place is its own until it is given up.
            unsafe { self.place.written.write_bytes(NOTHING, self.code) };
            pool.given_up[self.size].push(self.place);
        }
    }
}

struct Pool {
    /// Of each size, places that nobody has read since the last barrier.
    ready: [Vec<Place>; SIZES],
    given_up: [Vec<Place>; SIZES],
    /// What is left of the last arena.
    rest: Option<(Place, usize)>,
    /// Whether this process is the one that made it.
    is_here: &'static AtomicBool,
}

impl Pool {
    fn new() -> Result<Pool> {
        membarrier(MembarrierCommand::RegisterPrivateExpeditedSyncCore)?;
        // SAFETY: nothing says where it must lie.
        let mark = unsafe {
            mmap_anonymous(null_mut(), 1 << 12, readable_and(ProtFlags::WRITE), MapFlags::PRIVATE)?
        };
        // SAFETY: it is nobody else's, and its bytes become 0 in a forked process: no longer true.
        unsafe { madvise(mark, 1 << 12, Advice::LinuxWipeOnFork)? };
        // SAFETY: it is there for ever.
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
        // SAFETY: nobody has it yet.
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

/// Memory that is mapped twice. It is never given back.
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
        // Before Linux 6.3 all could be executed.
        Err(Errno::INVAL) => memfd_create("code", flags),
        result => result,
    }
}

fn map(wish: *mut c_void, allowed: ProtFlags, file: &OwnedFd) -> Result<*mut u8> {
    // SAFETY: it takes nobody's place, because nothing says that it must lie where it is wished; the file is nobody
    // else's.
    let begin = unsafe { mmap(wish, ARENA, readable_and(allowed), MapFlags::SHARED, file, 0)? };
    // SAFETY: it stays as it is in this process.
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
        // SAFETY: it stays mapped. Another test may have it by now: then it isn't what it was either.
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
