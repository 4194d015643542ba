//! The heap of a server that runs programs. It maps pages when they are first needed.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::{NonNull, null_mut};

use kortex_memory::PAGE;
use kortex_memory::buddy::Buddy;
use kortex_memory::general::General;
use users::calls::{Number, call};

/// Its address and size in pages.
const AT: usize = 0x80_0000_0000 + (32 << 30);
const PAGES: usize = 512;

/// 2^RESERVE pages stay free for what has begun, which never takes that many.
const RESERVE: usize = 7;

struct Heap(UnsafeCell<General<Buddy>>);

#[global_allocator]
static HEAP: Heap = Heap(UnsafeCell::new(General::new(Buddy::new())));

// SAFETY: only a server allocates, in a call of it, and it is in one at a time.
unsafe impl Sync for Heap {}

// SAFETY: `General` gives what nobody else has, aligned and as large as is asked for.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: nobody else is in it.
        unsafe { (*self.0.get()).allocate(layout) }.map_or(null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if let Some(block) = NonNull::new(block) {
            // SAFETY: as the caller promises; nobody else is in it.
            unsafe { (*self.0.get()).free(block, layout) };
        }
    }
}

/// Whether there is memory to begin a program or run.
pub fn has_room() -> bool {
    // SAFETY: nobody else is in it.
    let buddy = unsafe { (*HEAP.0.get()).pages() };
    if buddy.free_pages() == 0 && call(Number::Map, AT as u64, PAGES as u64) == 0 {
        let (end, beside) = (AT + PAGES * PAGE, Buddy::beside(PAGES));
        // SAFETY: this memory is there since now, and nobody's: what says which of it is free comes first.
        unsafe {
            *buddy = Buddy::of(AT, end, AT as *mut u8);
            buddy.add(AT + beside, end);
        }
    }
    buddy.has(RESERVE)
}
