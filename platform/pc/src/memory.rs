//! The machine's memory: Rust's allocator, and pages for the program's heap.
//!
//! # Soundness
//!
//! Handlers neither allocate nor free while the lock is held, which they check first ([`is_in_use`]). So a handler
//! never waits for a lock that the interrupted code holds.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr::{NonNull, null_mut};

use kortex_memory::buddy::Buddy;
use kortex_memory::general::General;
use kortex_memory::{PAGE, Pages, allocate_zeroed, order};
use spin::Mutex;

static MEMORY: Mutex<General<Buddy>> = Mutex::new(General::new(Buddy::new()));

/// The last pages are the system's: the program gets none of them, so that the system still works when the program has
/// taken all others.
const RESERVE: usize = 256;

/// Sets the pages.
pub(crate) fn begin(pages: Buddy) {
    *MEMORY.lock().pages() = pages;
}

/// Allocates zeroed memory for the program; null if there is none.
pub(crate) fn allocate(bytes: usize) -> *mut u8 {
    allocate_zeroed(&mut ForPrograms, order(bytes)).map_or(null_mut(), NonNull::as_ptr)
}

/// The allocator of pages for programs: the home's and those of domains.
#[derive(Debug)]
pub(crate) struct ForPrograms;

impl Pages for ForPrograms {
    fn allocate(&mut self, order: usize) -> Option<NonNull<u8>> {
        let mut memory = MEMORY.lock();
        let left = memory.pages().free_pages();
        if left < RESERVE + (1 << order) { None } else { memory.pages().allocate(order) }
    }

    unsafe fn free(&mut self, pages: NonNull<u8>, order: usize) {
        // SAFETY: the caller promises that the pages came from this allocator with this order, and aren't used any
        // more.
        unsafe { MEMORY.lock().pages().free(pages, order) };
    }
}

/// The number of pages left for programs.
pub(crate) fn left() -> usize {
    MEMORY.lock().pages().free_pages().saturating_sub(RESERVE)
}

/// Whether the interrupted home was allocating or freeing memory.
pub(crate) fn is_in_use() -> bool {
    MEMORY.is_locked()
}

/// Whether the system can take `bytes` bytes at once without using its last pages.
pub(crate) fn is_there(bytes: usize) -> bool {
    let order = order(bytes);
    let mut memory = MEMORY.lock();
    let pages = memory.pages();
    pages.free_pages() >= RESERVE + (1 << order) && pages.has(order)
}

/// Frees memory of the program.
///
/// # Safety
/// The memory came from [`allocate`] with the same size, and isn't used any more.
pub(crate) unsafe fn free(memory: *mut u8, bytes: usize) {
    if let Some(memory) = NonNull::new(memory) {
        // SAFETY: the caller promises that the memory came from `allocate` with this size, and isn't used any more.
        unsafe { ForPrograms.free(memory, order(bytes)) };
    }
}

/// Rust's allocator, for an image's `#[global_allocator]`.
#[derive(Debug)]
pub struct Allocator;

/// Larger blocks count as the program's, and can't use the last pages.
const SHORT: usize = 1 << 14;

/// Whether there is memory for `bytes` more bytes.
fn is_free(memory: &mut General<Buddy>, bytes: usize) -> bool {
    bytes <= SHORT || memory.pages().free_pages() >= RESERVE + bytes.div_ceil(PAGE)
}

// SAFETY: `General` gives unused memory of the requested alignment and size.
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
        // SAFETY: the caller promises that the block came from this allocator with this layout.
        unsafe { memory.reallocate(block, layout, size) }.map_or(null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some(block) = NonNull::new(block) {
            // SAFETY: the caller promises that the block came from this allocator with this layout, and isn't used any
            // more.
            unsafe { MEMORY.lock().free(block, layout) };
        }
    }
}
