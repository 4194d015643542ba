//! Memory of a kernel (paper 002, section 4.1): [`buddy`] gives pages, [`general`] blocks of any size, which it cuts out of
//! such pages. Both hand out what they were given, and nothing else: they run wherever there is memory.

#![no_std]

pub mod buddy;
pub mod general;

use core::ptr::NonNull;

/// A page's bytes.
pub const PAGE: usize = 4096;

/// Who gives memory by pages: `1 << order` of them at once, aligned to as many.
pub trait Pages {
    /// Gives some; `None`: there are not so many together.
    fn allocate(&mut self, order: usize) -> Option<NonNull<u8>>;

    /// Takes them back.
    ///
    /// # Safety
    /// They were given by this with the same order, and nobody uses them any more.
    unsafe fn free(&mut self, pages: NonNull<u8>, order: usize);
}

/// The order that is enough for so many bytes.
pub const fn order(bytes: usize) -> usize {
    bytes.div_ceil(PAGE).next_power_of_two().trailing_zeros() as usize
}
