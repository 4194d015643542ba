//! The machine's memory: an anonymous file, so that its pages can be mapped as the guest's page tables say, in this
//! process and in the users'.
//!
//! # Soundness
//!
//! The window is never unmapped, and each access is checked against its size. The guest may change its bytes at any
//! time, so they are only copied.

use std::io::{Error, Result};
use std::os::fd::RawFd;
use std::ptr::{copy_nonoverlapping, null_mut};

/// Bytes of a page.
pub const PAGE: u64 = 4096;

/// Physical memory, from address 0.
pub struct Memory {
    file: RawFd,
    window: *mut u8,
    size: u64,
}

impl Memory {
    /// Memory of `size` bytes, all 0. Untouched pages take none.
    pub fn new(size: u64) -> Result<Memory> {
        let size = size.next_multiple_of(PAGE);
        // SAFETY: system calls that make something new.
        unsafe {
            let file = libc::memfd_create(c"memory".as_ptr(), libc::MFD_CLOEXEC);
            if file < 0 || libc::ftruncate(file, size as i64) < 0 {
                return Err(Error::last_os_error());
            }
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let window = libc::mmap(null_mut(), size as usize, access, libc::MAP_SHARED, file, 0);
            if window == libc::MAP_FAILED {
                return Err(Error::last_os_error());
            }
            Ok(Memory { file, window: window.cast(), size })
        }
    }

    /// The file that holds the memory.
    pub fn file(&self) -> RawFd {
        self.file
    }

    /// Its bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    fn place(&self, at: u64, count: usize) -> Option<*mut u8> {
        let end = at.checked_add(count as u64)?;
        // SAFETY: the place lies within the window.
        (end <= self.size).then(|| unsafe { self.window.add(at as usize) })
    }

    /// Copies bytes from memory; `None`: there is none at that address.
    pub fn read<const BYTES: usize>(&self, at: u64) -> Option<[u8; BYTES]> {
        let mut bytes = [0; BYTES];
        // SAFETY: `place` has checked that so many bytes are there.
        unsafe { copy_nonoverlapping(self.place(at, BYTES)?, bytes.as_mut_ptr(), BYTES) };
        Some(bytes)
    }

    /// Copies bytes to memory; `None`: there is none at that address.
    pub fn write(&self, at: u64, bytes: &[u8]) -> Option<()> {
        // SAFETY: `place` has checked that so many bytes are there.
        unsafe { copy_nonoverlapping(bytes.as_ptr(), self.place(at, bytes.len())?, bytes.len()) };
        Some(())
    }

    /// Reads a word.
    pub fn word(&self, at: u64) -> Option<u64> {
        self.read(at).map(u64::from_le_bytes)
    }
}
