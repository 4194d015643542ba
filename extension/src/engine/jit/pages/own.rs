//! Pages for one code alone: written first, and executed then.

extern crate std;

use core::ffi::c_void;
use core::slice;
use std::io;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

/// Pages of the process's own.
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
        // SAFETY: it takes nobody's place, because nothing says that it must lie where it is wished.
        let begin = unsafe { mmap_anonymous(super::near::near(size), size, writable, MapFlags::PRIVATE)? };
        let map = Map { begin, size, code: code.len() };
        // SAFETY: there are so many bytes, which are nobody else's.
        unsafe { begin.cast::<u8>().copy_from_nonoverlapping(code.as_ptr(), code.len()) };
        // SAFETY: the same; nobody writes there any more.
        unsafe { mprotect(begin, size, MprotectFlags::READ | MprotectFlags::EXEC)? };
        Ok(map)
    }

    #[inline]
    pub fn code(&self) -> &[u8] {
        // SAFETY: they are there until this is dropped, and nobody writes them.
        unsafe { slice::from_raw_parts(self.begin.cast(), self.code) }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: nobody has it any more. It can't fail of what was mapped; if it did, there would be nothing to do.
        let _ = unsafe { munmap(self.begin, self.size) };
    }
}

// SAFETY: nobody changes it.
unsafe impl Send for Map {}
// SAFETY: the same.
unsafe impl Sync for Map {}
