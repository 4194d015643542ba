//! A domain's memory: Rust's allocator, and pages for the program's heap. The kernel adds pages after those that there
//! are. A domain keeps its pages until it ends.
//!
//! # Soundness
//!
//! There is one thread, and ticks neither allocate nor free.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr::{NonNull, null_mut};

use drystone_calls::{MEMORY, MOST_PAGES};
use kortex_memory::buddy::Buddy;
use kortex_memory::general::General;
use kortex_memory::{PAGE, Pages, allocate_zeroed, order};
use spin::Mutex;

use crate::calls;

static GENERAL: Mutex<General<Growing>> = Mutex::new(General::new(Growing::new()));

/// At least so many pages are requested at once, if the limit allows.
const STEP: usize = 64;

/// An allocator of pages that requests more from the kernel.
struct Growing {
    buddy: Buddy,
    /// The pages that it has.
    count: usize,
    /// The most pages that it may have; the buddy allocator's table covers all.
    most: usize,
}

impl Growing {
    const fn new() -> Growing {
        Growing { buddy: Buddy::new(), count: 0, most: 0 }
    }

    /// An allocator of at most `most` pages. Its table of orders is in the first of them.
    fn begin(most: usize) -> Growing {
        let beside = Buddy::beside(most).div_ceil(PAGE);
        if !calls::grow(beside) {
            return Growing::new();
        }
        // SAFETY: that memory was just added, and isn't used yet.
        let buddy = unsafe { Buddy::of(MEMORY, MEMORY + most * PAGE, MEMORY as *mut u8) };
        Growing { buddy, count: beside, most }
    }

    /// Requests `pages` more pages. `false`: it has got fewer.
    fn grow(&mut self, pages: usize) -> bool {
        let wanted = self.count.saturating_add(pages);
        while self.count < wanted.min(self.most) {
            let some = (wanted.min(self.most) - self.count).min(MOST_PAGES);
            if !calls::grow(some) {
                return false;
            }
            let start = MEMORY + self.count * PAGE;
            self.count += some;
            // SAFETY: the kernel has just added these pages, which nothing uses yet.
            unsafe { self.buddy.add(start, start + some * PAGE) };
        }
        self.count == wanted
    }
}

impl Pages for Growing {
    fn allocate(&mut self, order: usize) -> Option<NonNull<u8>> {
        if !self.buddy.has(order) {
            let wanted = 1 << order;
            // An aligned block may begin later: the pages before it are requested, too.
            let needed = self.count.next_multiple_of(wanted) - self.count + wanted;
            self.grow(needed.max(STEP));
        }
        self.buddy.allocate(order)
    }

    unsafe fn free(&mut self, pages: NonNull<u8>, order: usize) {
        // SAFETY: the caller promises that the pages came from this allocator with this order, and aren't used any
        // more.
        unsafe { self.buddy.free(pages, order) };
    }
}

/// Sets the most pages of the domain.
pub(crate) fn begin(most: usize) {
    *GENERAL.lock().pages() = Growing::begin(most);
}

/// Allocates zeroed memory for the program; null if there is none.
pub(crate) fn allocate(bytes: usize) -> *mut u8 {
    allocate_zeroed(GENERAL.lock().pages(), order(bytes)).map_or(null_mut(), NonNull::as_ptr)
}

/// Frees memory of the program.
///
/// # Safety
/// The memory came from [`allocate`] with the same size, and isn't used any more.
pub(crate) unsafe fn free(memory: *mut u8, bytes: usize) {
    if let Some(memory) = NonNull::new(memory) {
        // SAFETY: the caller promises that the memory came from `allocate` with this size, and isn't used any more.
        unsafe { GENERAL.lock().pages().free(memory, order(bytes)) };
    }
}

/// Rust's allocator, for a user's `#[global_allocator]`.
#[derive(Debug)]
pub struct Allocator;

// SAFETY: `General` gives unused memory of the requested alignment and size.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        GENERAL.lock().allocate(layout).map_or(null_mut(), NonNull::as_ptr)
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(block) = NonNull::new(block) else { return null_mut() };
        // SAFETY: the caller promises that the block came from this allocator with this layout.
        unsafe { GENERAL.lock().reallocate(block, layout, size) }.map_or(null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some(block) = NonNull::new(block) {
            // SAFETY: the caller promises that the block came from this allocator with this layout, and isn't used any
            // more.
            unsafe { GENERAL.lock().free(block, layout) };
        }
    }
}
