//! The kernel's heap, for programs and their runs. Their sizes are limited before they are accepted, so memory never
//! runs out in the middle.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::RefCell;
use core::ptr::{NonNull, null_mut};

use kortex_hal::Shared;
use kortex_memory::Pages;
use kortex_memory::general::General;

/// The kernel's pages, once the heap has begun.
struct KernelPages(Option<&'static RefCell<dyn Pages>>);

impl Pages for KernelPages {
    fn allocate(&mut self, order: usize) -> Option<NonNull<u8>> {
        self.0?.borrow_mut().allocate(order)
    }

    unsafe fn free(&mut self, pages: NonNull<u8>, order: usize) {
        if let Some(kernel) = self.0 {
            // SAFETY: as the caller promises.
            unsafe { kernel.borrow_mut().free(pages, order) };
        }
    }
}

struct Heap(Shared<General<KernelPages>>);

#[global_allocator]
static HEAP: Heap = Heap(Shared::new(General::new(KernelPages(None))));

// SAFETY: it gives blocks as large and aligned as is asked for, each to one at a time: there is one processor, and the
// kernel isn't interrupted.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: nobody else is in it.
        let block = unsafe { (*self.0.get()).allocate(layout) };
        block.map_or(null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises; nobody else is in it.
        unsafe { (*self.0.get()).free(NonNull::new_unchecked(block), layout) };
    }
}

/// Sets where the heap takes pages from.
///
/// # Safety
/// Called once, before there are blocks.
pub unsafe fn begin(pages: &'static RefCell<dyn Pages>) {
    // SAFETY: as the caller promises.
    unsafe { (*HEAP.0.get()).pages().0 = Some(pages) };
}

/// 2^RESERVE pages stay free for what has begun, which never takes that many.
const RESERVE: usize = 9;

/// Whether there is memory to begin a program or run.
pub fn has_room() -> bool {
    // SAFETY: nobody else is in it, and what is given is given back.
    unsafe {
        let pages = (*HEAP.0.get()).pages();
        let reserve = pages.allocate(RESERVE);
        reserve.map(|reserve| pages.free(reserve, RESERVE)).is_some()
    }
}
