//! A domain's memory: Rust's allocator, and pages for the program's heap. The kernel gives pages behind those that
//! there are; a domain keeps what it has got until it ends.
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

/// So many pages are asked for at least, if there are so many.
const STEP: usize = 64;

/// Pages that become more.
struct Growing {
    buddy: Buddy,
    /// Pages that there are.
    count: usize,
    /// Pages that there can be, which the buddy knows of.
    most: usize,
}

impl Growing {
    const fn new() -> Growing {
        Growing { buddy: Buddy::new(), count: 0, most: 0 }
    }

    /// There may be so many pages. What says which are free is in the first of them.
    fn begin(most: usize) -> Growing {
        let beside = Buddy::beside(most).div_ceil(PAGE);
        if !calls::grow(beside) {
            return Growing::new();
        }
        // SAFETY: that memory is there now, and nobody's.
        let buddy = unsafe { Buddy::of(MEMORY, MEMORY + most * PAGE, MEMORY as *mut u8) };
        Growing { buddy, count: beside, most }
    }

    /// Gets so many pages more; `false`: it has got fewer.
    fn grow(&mut self, pages: usize) -> bool {
        let wanted = self.count.saturating_add(pages);
        while self.count < wanted.min(self.most) {
            let some = (wanted.min(self.most) - self.count).min(MOST_PAGES);
            if !calls::grow(some) {
                return false;
            }
            let start = MEMORY + self.count * PAGE;
            self.count += some;
            // SAFETY: as above.
            unsafe { self.buddy.add(start, start + some * PAGE) };
        }
        self.count == wanted
    }
}

impl Pages for Growing {
    fn allocate(&mut self, order: usize) -> Option<NonNull<u8>> {
        if !self.buddy.has(order) {
            let wanted = 1 << order;
            // What lies before the first place for it comes along.
            let needed = self.count.next_multiple_of(wanted) - self.count + wanted;
            self.grow(needed.max(STEP));
        }
        self.buddy.allocate(order)
    }

    unsafe fn free(&mut self, pages: NonNull<u8>, order: usize) {
        // SAFETY: as the caller promises.
        unsafe { self.buddy.free(pages, order) };
    }
}

/// There may be so many pages.
pub(crate) fn begin(most: usize) {
    *GENERAL.lock().pages() = Growing::begin(most);
}

/// Gets zeroed memory for the program; null if there is none.
pub(crate) fn allocate(bytes: usize) -> *mut u8 {
    allocate_zeroed(GENERAL.lock().pages(), order(bytes)).map_or(null_mut(), NonNull::as_ptr)
}

/// Gives it back.
///
/// # Safety
/// It came from [`allocate`] with the same size, and nobody uses it any more.
pub(crate) unsafe fn free(memory: *mut u8, bytes: usize) {
    if let Some(memory) = NonNull::new(memory) {
        // SAFETY: as the caller promises.
        unsafe { GENERAL.lock().pages().free(memory, order(bytes)) };
    }
}

/// Rust's allocator, for a user's `#[global_allocator]`.
#[derive(Debug)]
pub struct Allocator;

// SAFETY: `General` gives what nobody else has, aligned and as large as is asked for.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        GENERAL.lock().allocate(layout).map_or(null_mut(), NonNull::as_ptr)
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(block) = NonNull::new(block) else { return null_mut() };
        // SAFETY: as the caller promises.
        unsafe { GENERAL.lock().reallocate(block, layout, size) }.map_or(null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some(block) = NonNull::new(block) {
            // SAFETY: as the caller promises.
            unsafe { GENERAL.lock().free(block, layout) };
        }
    }
}
