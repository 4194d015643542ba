//! Pages for a single piece of code, which are written first, and then made executable.

extern crate std;

use core::ffi::c_void;
use core::slice;
use std::io;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

/// A private mapping with code.
#[derive(Debug)]
pub(super) struct Map {
    begin: *mut c_void,
    size: usize,
    code: usize,
}

impl Map {
    pub fn new(code: &[u8]) -> io::Result<Map> {
        let size = code.len().next_multiple_of(1 << 16).max(1 << 16);
        let writable = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the address is only a hint, so that no other mapping is replaced.
        let begin = unsafe { mmap_anonymous(super::near::near(size), size, writable, MapFlags::PRIVATE)? };
        let map = Map { begin, size, code: code.len() };
        // SAFETY: the mapping is new, writable, and at least as long as the code.
        unsafe { begin.cast::<u8>().copy_from_nonoverlapping(code.as_ptr(), code.len()) };
        // SAFETY: the mapping is this one's, and isn't written any more.
        unsafe { mprotect(begin, size, MprotectFlags::READ | MprotectFlags::EXEC)? };
        Ok(map)
    }

    #[inline]
    pub fn code(&self) -> &[u8] {
        // SAFETY: the mapping has so many bytes, lives as long as this, and isn't written any more.
        unsafe { slice::from_raw_parts(self.begin.cast(), self.code) }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's, and isn't borrowed. If it could fail there would be nothing to do.
        let _ = unsafe { munmap(self.begin, self.size) };
    }
}

// SAFETY: a `Map` owns its mapping, which belongs to no thread.
unsafe impl Send for Map {}
// SAFETY: the mapping isn't written any more.
unsafe impl Sync for Map {}
