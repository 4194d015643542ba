//! Memory of a kernel (paper 002, section 4.3): [`buddy`] gives pages, [`general`] blocks of any size, which it cuts
//! out of such pages. Both hand out what they were given, and nothing else: they run wherever there is memory. What is
//! where [`flat`] and [`paged`] say, both of which are [`Space`]s.

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

/// Pages that several take from.
pub trait Pool {
    /// Who gives them.
    type Pages: Pages + 'static;

    /// For as long as somebody gives or takes.
    fn pages(&self) -> &RefCell<Self::Pages>;
}

/// An address space, whatever its model.
pub trait Space {
    /// There is memory in `pages` pages from `at` on: zeros that nobody else has, unless it was there before.
    ///
    /// # Errors
    /// There can't be; then there is as little as before.
    fn map(&self, at: usize, pages: usize, access: Access) -> Result<(), Refused>;

    /// There is nothing any more, and what was there is somebody else's.
    ///
    /// # Safety
    /// Nobody uses it any more.
    unsafe fn unmap(&self, at: usize, pages: usize);
}

/// Pages with nothing but zeros in them.
pub fn allocate_zeroed(pages: &mut impl Pages, order: usize) -> Option<NonNull<u8>> {
    let given = pages.allocate(order)?;
    // SAFETY: they were just given.
    unsafe { given.write_bytes(0, PAGE << order) };
    Some(given)
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
