//! Packets at the end of mapped memory: reading one byte too many crashes.
//!
//! `unsafe` here: memory is mapped, and lent as bytes while its owner lives.

use core::ffi::c_void;
use core::{ptr, slice};

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

const PAGE: usize = 1 << 16;

/// Room for a packet that ends where nothing can be read.
pub(super) struct Guarded(*mut c_void);

impl Guarded {
    pub fn new() -> Guarded {
        let writable = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: nothing says where it must lie, and both halves are its own.
        unsafe {
            let begin = mmap_anonymous(ptr::null_mut(), 2 * PAGE, writable, MapFlags::PRIVATE).unwrap();
            mprotect(begin.byte_add(PAGE), PAGE, MprotectFlags::empty()).unwrap();
            Guarded(begin)
        }
    }

    /// The same packet, at the end.
    pub fn place(&mut self, packet: &[u8]) -> &[u8] {
        assert!(packet.len() <= PAGE);
        // SAFETY: so many bytes are there, and nobody looks at them now.
        unsafe {
            let place = self.0.byte_add(PAGE - packet.len()).cast::<u8>();
            place.copy_from_nonoverlapping(packet.as_ptr(), packet.len());
            slice::from_raw_parts(place, packet.len())
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: nobody has it any more.
        let _ = unsafe { munmap(self.0, 2 * PAGE) };
    }
}
