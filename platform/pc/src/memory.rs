//! The machine's memory: Rust's allocator, and pages for the program's heap.
//!
//! # Soundness
//!
//! Handlers neither allocate nor free while this is in use, which they ask first ([`is_in_use`]): so the lock is never
//! wanted by who is interrupted by its wait.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr::{NonNull, null_mut};

use kortex_memory::buddy::Buddy;
use kortex_memory::general::General;
use kortex_memory::{PAGE, Pages, allocate_zeroed, order};
use spin::Mutex;

static MEMORY: Mutex<General<Buddy>> = Mutex::new(General::new(Buddy::new()));

/// The program gets none of the last pages: what the system itself needs must be there when the program has taken all.
const RESERVE: usize = 256;

/// From now on there are these pages.
pub(crate) fn begin(pages: Buddy) {
    *MEMORY.lock().pages() = pages;
}

/// Gets zeroed memory for the program; null if there is none.
pub(crate) fn allocate(bytes: usize) -> *mut u8 {
    allocate_zeroed(&mut ForPrograms, order(bytes)).map_or(null_mut(), NonNull::as_ptr)
}

/// Pages for programs: the home's and those of domains.
#[derive(Debug)]
pub(crate) struct ForPrograms;

impl Pages for ForPrograms {
    fn allocate(&mut self, order: usize) -> Option<NonNull<u8>> {
        let mut memory = MEMORY.lock();
        let left = memory.pages().free_pages();
        if left < RESERVE + (1 << order) { None } else { memory.pages().allocate(order) }
    }

    unsafe fn free(&mut self, pages: NonNull<u8>, order: usize) {
        // SAFETY: as the caller promises.
        unsafe { MEMORY.lock().pages().free(pages, order) };
    }
}

/// How many pages programs can have yet.
pub(crate) fn left() -> usize {
    MEMORY.lock().pages().free_pages().saturating_sub(RESERVE)
}

/// Whether the home was interrupted while it takes memory or gives some back.
pub(crate) fn is_in_use() -> bool {
    MEMORY.is_locked()
}

/// Whether the system itself may take so many bytes at once, and more than its last pages are left.
pub(crate) fn is_there(bytes: usize) -> bool {
    let order = order(bytes);
    let mut memory = MEMORY.lock();
    let pages = memory.pages();
    pages.free_pages() >= RESERVE + (1 << order) && pages.has(order)
}

/// Gives it back.
///
/// # Safety
/// It came from [`allocate`] with the same size, and nobody uses it any more.
pub(crate) unsafe fn free(memory: *mut u8, bytes: usize) {
    if let Some(memory) = NonNull::new(memory) {
        // SAFETY: as the caller promises.
        unsafe { ForPrograms.free(memory, order(bytes)) };
    }
}

/// Rust's allocator, for an image's `#[global_allocator]`.
#[derive(Debug)]
pub struct Allocator;

/// What is larger is the program's, whose large blocks come from here: none of the last pages are for that.
const SHORT: usize = 1 << 14;

/// Whether there is memory for so many bytes more.
fn is_free(memory: &mut General<Buddy>, bytes: usize) -> bool {
    bytes <= SHORT || memory.pages().free_pages() >= RESERVE + bytes.div_ceil(PAGE)
}

// SAFETY: `General` gives what nobody else has, aligned and as large as is asked for.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let mut memory = MEMORY.lock();
        if !is_free(&mut memory, layout.size()) {
            return null_mut();
        }
        memory.allocate(layout).map_or(null_mut(), NonNull::as_ptr)
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let mut memory = MEMORY.lock();
        let Some(block) = NonNull::new(block) else { return null_mut() };
        if size > layout.size() && !is_free(&mut memory, size) {
            return null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { memory.reallocate(block, layout, size) }.map_or(null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some(block) = NonNull::new(block) {
            // SAFETY: as the caller promises.
            unsafe { MEMORY.lock().free(block, layout) };
        }
    }
}
