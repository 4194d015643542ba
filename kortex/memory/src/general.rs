//! An allocator of blocks of any size. Small blocks of one size are cut out of a page, which is freed when all its
//! blocks are free. Large blocks are whole pages. A block is freed with its size, so that blocks need no header.
//!
//! # Soundness
//!
//! A page of small blocks begins with its head, which is found from a block's address. A free block holds its list
//! link.

use core::alloc::Layout;
use core::ptr::{NonNull, null_mut};

use crate::{PAGE, Pages, free_range, order};

/// The sizes of small blocks. All blocks of a size are aligned to its largest power of two; a request for more
/// alignment takes a later size.
const SIZES: [usize; 14] = [16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 672, 1008, 1344, 2016];

/// The head of a page of small blocks.
#[repr(C)]
struct Head {
    /// Neighbours in the list of pages of the same size that have free blocks.
    previous: *mut Head,
    next: *mut Head,
    free: *mut Free,
    used: u32,
    class: u32,
}

struct Free {
    next: *mut Free,
}

const HEAD: usize = 64;
const _: () = assert!(size_of::<Head>() <= HEAD);

/// An allocator of blocks over an allocator of pages.
#[derive(Debug)]
pub struct General<P> {
    pages: P,
    /// For each size, a list of pages with free blocks.
    classes: [*mut Head; SIZES.len()],
}

// SAFETY: an allocator owns the memory to which its pointers lead.
unsafe impl<P: Send> Send for General<P> {}

impl<P: Pages> General<P> {
    /// An allocator that has taken no pages yet.
    pub const fn new(pages: P) -> General<P> {
        General { pages, classes: [null_mut(); SIZES.len()] }
    }

    /// The allocator of pages.
    pub fn pages(&mut self) -> &mut P {
        &mut self.pages
    }

    /// Allocates a block; `None`: there is no memory for it.
    pub fn allocate(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        let Some(class) = class(layout) else { return self.allocate_pages(layout) };
        if self.classes[class].is_null() {
            self.add_page(class)?;
        }
        let head = self.classes[class];
        // SAFETY: pages in lists are there, and have a free block.
        unsafe {
            let block = (*head).free;
            (*head).free = (*block).next;
            (*head).used += 1;
            if (*head).free.is_null() {
                self.remove(head);
            }
            NonNull::new(block.cast())
        }
    }

    /// Frees a block.
    ///
    /// # Safety
    /// This allocator gave it with the same layout, and it isn't used any more.
    pub unsafe fn free(&mut self, block: NonNull<u8>, layout: Layout) {
        if class(layout).is_none() {
            let start = block.as_ptr() as usize;
            // SAFETY: the caller promises that the block came from this allocator with this layout, and isn't used any
            // more.
            return unsafe { free_range(&mut self.pages, start, start + pages(layout)) };
        }
        let head = (block.as_ptr() as usize & !(PAGE - 1)) as *mut Head;
        let block = block.as_ptr().cast::<Free>();
        // SAFETY: the block is small, so it is on a page with a head.
        unsafe {
            if (*head).free.is_null() {
                self.insert(head);
            }
            block.write(Free { next: (*head).free });
            (*head).free = block;
            (*head).used -= 1;
            // Keeps the last page of a size: code that allocates and frees one block needn't cut a page each time.
            if (*head).used == 0 && (!(*head).previous.is_null() || !(*head).next.is_null()) {
                self.remove(head);
                self.pages.free(NonNull::new_unchecked(head.cast()), 0);
            }
        }
    }

    /// Changes a block's size. It moves only if it must; a block of pages that shrinks stays. `None`: there is no
    /// memory for it, and the block is as before.
    ///
    /// # Safety
    /// As for [`General::free`]. If the block has moved, the old one is freed.
    pub unsafe fn reallocate(
        &mut self,
        block: NonNull<u8>,
        layout: Layout,
        size: usize,
    ) -> Option<NonNull<u8>> {
        let new = Layout::from_size_align(size, layout.align()).ok()?;
        let start = block.as_ptr() as usize;
        match (class(layout), class(new)) {
            (Some(old), Some(new)) if old == new => return Some(block),
            (None, None) if pages(new) <= pages(layout) => {
                // SAFETY: the pages after the new end aren't used any more.
                unsafe { free_range(&mut self.pages, start + pages(new), start + pages(layout)) };
                return Some(block);
            }
            _ => {}
        }
        let moved = self.allocate(new)?;
        // SAFETY: both blocks have at least so many bytes.
        unsafe {
            moved.copy_from_nonoverlapping(block, size.min(layout.size()));
            self.free(block, layout);
        }
        Some(moved)
    }

    /// Allocates a block of pages, and frees the rest of its order.
    fn allocate_pages(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        let order = order(pages(layout));
        let block = self.pages.allocate(order)?;
        let start = block.as_ptr() as usize;
        // SAFETY: the pages were just allocated.
        unsafe { free_range(&mut self.pages, start + pages(layout), start + (PAGE << order)) };
        Some(block)
    }

    fn add_page(&mut self, class: usize) -> Option<()> {
        let page = self.pages.allocate(0)?.as_ptr();
        let size = SIZES[class];
        let first = HEAD.next_multiple_of(alignment(size));
        let mut free = null_mut();
        for number in (0..(PAGE - first) / size).rev() {
            // SAFETY: the block lies within the page.
            unsafe {
                let block = page.add(first + number * size).cast::<Free>();
                block.write(Free { next: free });
                free = block;
            }
        }
        let head = page.cast::<Head>();
        let nothing = null_mut();
        // SAFETY: the page was just allocated.
        unsafe {
            head.write(Head { previous: nothing, next: nothing, free, used: 0, class: class as u32 });
            self.insert(head);
        }
        Some(())
    }

    /// # Safety
    /// The page is in no list.
    unsafe fn insert(&mut self, head: *mut Head) {
        // SAFETY: the caller promises that the page is in no list; pages in lists exist.
        unsafe {
            let first = &mut self.classes[(*head).class as usize];
            (*head).previous = null_mut();
            (*head).next = *first;
            if let Some(next) = (*first).as_mut() {
                next.previous = head;
            }
            *first = head;
        }
    }

    /// # Safety
    /// The page is in its list.
    unsafe fn remove(&mut self, head: *mut Head) {
        // SAFETY: the caller promises that the page is in its list; so are the pages before and after it.
        unsafe {
            let Head { previous, next, class, .. } = *head;
            match previous.as_mut() {
                Some(previous) => previous.next = next,
                None => self.classes[class as usize] = next,
            }
            if let Some(next) = next.as_mut() {
                next.previous = previous;
            }
        }
    }
}

/// Bytes of a large block's pages; at least its alignment.
fn pages(layout: Layout) -> usize {
    layout.size().max(layout.align()).next_multiple_of(PAGE)
}

/// The alignment of all blocks of a size, if the first is aligned: the size's largest power of two.
const fn alignment(size: usize) -> usize {
    1 << size.trailing_zeros()
}

/// The smallest size that is large and aligned enough; `None`: the block takes pages.
fn class(layout: Layout) -> Option<usize> {
    SIZES.iter().position(|&size| size >= layout.size() && alignment(size) >= layout.align())
}
