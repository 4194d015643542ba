//! Memory of a kernel (*THINK*, section 4.3).
//!
//! * [`buddy`] allocates pages; [`general`] cuts blocks of any size out of such pages. Both hand out only memory that
//!   they were given, so they run anywhere.
//! * [`flat`] and [`paged`] are address spaces, with the interface [`Space`].

#![no_std]
#![cfg(target_arch = "x86_64")]

pub mod buddy;
pub mod flat;
pub mod general;
pub mod paged;

use core::cell::RefCell;
use core::ptr::NonNull;

use kortex_hal::mmu::{Access, Refused};

pub use buddy::Memory;

/// Bytes of a page.
pub const PAGE: usize = 4096;

/// The largest order: 4 GiB.
pub const MOST: usize = 20;

/// An allocator of pages: `1 << order` at once, aligned to their size.
pub trait Pages {
    /// Allocates pages; `None`: there are not so many together.
    fn allocate(&mut self, order: usize) -> Option<NonNull<u8>>;

    /// Frees pages.
    ///
    /// # Safety
    /// This allocator gave them with the same order, and they aren't used any more.
    unsafe fn free(&mut self, pages: NonNull<u8>, order: usize);
}

/// A shared allocator of pages.
pub trait Pool {
    /// The allocator.
    type Pages: Pages + 'static;

    /// The allocator; borrowed only during an allocation or release.
    fn pages(&self) -> &RefCell<Self::Pages>;
}

/// An address space, of any model.
pub trait Space {
    /// Maps `pages` pages from `at` on. They are zeros and belong to this space alone, unless memory was there before.
    ///
    /// # Errors
    /// The pages can't be mapped, and none of them is.
    fn map(&self, at: usize, pages: usize, access: Access) -> Result<(), Refused>;

    /// Unmaps the pages, and frees them.
    ///
    /// # Safety
    /// They aren't used any more.
    unsafe fn unmap(&self, at: usize, pages: usize);
}

/// Allocates pages filled with zeros.
pub fn allocate_zeroed(pages: &mut impl Pages, order: usize) -> Option<NonNull<u8>> {
    let given = pages.allocate(order)?;
    // SAFETY: the pages were just allocated.
    unsafe { given.write_bytes(0, PAGE << order) };
    Some(given)
}

/// Frees many adjacent pages, as few large pieces.
///
/// # Safety
/// The pages from `start` to `end` were given by this allocator, and aren't used any more.
pub unsafe fn free_range(pages: &mut impl Pages, start: usize, end: usize) {
    let mut at = start;
    while at < end {
        let aligned = (at / PAGE).trailing_zeros() as usize;
        let fits = ((end - at) / PAGE).ilog2() as usize;
        let order = aligned.min(fits).min(MOST);
        // SAFETY: the caller promises that this allocator gave the pages, and that they aren't used any more; no page
        // is at 0.
        unsafe { pages.free(NonNull::new_unchecked(at as *mut u8), order) };
        at += PAGE << order;
    }
}

/// The smallest order with at least `bytes` bytes.
pub const fn order(bytes: usize) -> usize {
    bytes.div_ceil(PAGE).next_power_of_two().trailing_zeros() as usize
}
