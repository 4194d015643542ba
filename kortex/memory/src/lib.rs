//! Memory of a kernel (paper 002, section 4.1): [`buddy`] gives pages, [`general`] blocks of any size, which it cuts out of
//! such pages. Both hand out what they were given, and nothing else: they run wherever there is memory.

#![no_std]

pub mod buddy;
pub mod general;

use core::ptr::NonNull;

/// A page's bytes.
pub const PAGE: usize = 4096;

/// The largest order: 4 GiB.
pub const MOST: usize = 20;

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

/// Gives pages back of which many lie together, as few large pieces.
///
/// # Safety
/// Those from `start` to `end`, which are pages' addresses, are given by this, and nobody uses them any more.
pub unsafe fn free_range(pages: &mut impl Pages, start: usize, end: usize) {
    let mut at = start;
    while at < end {
        let aligned = (at / PAGE).trailing_zeros() as usize;
        let fits = ((end - at) / PAGE).ilog2() as usize;
        let order = aligned.min(fits).min(MOST);
        // SAFETY: as the caller promises; no page is at 0.
        unsafe { pages.free(NonNull::new_unchecked(at as *mut u8), order) };
        at += PAGE << order;
    }
}

/// The order that is enough for so many bytes.
pub const fn order(bytes: usize) -> usize {
    bytes.div_ceil(PAGE).next_power_of_two().trailing_zeros() as usize
}
