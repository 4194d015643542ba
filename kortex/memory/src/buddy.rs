//! A buddy allocator of pages. A request is cut out of the smallest free piece that is large enough, by halving. When
//! both halves of a piece are free again, they are merged.
//!
//! # Soundness
//!
//! A free piece's list links are in the piece. Its order is in a table beside the pages, a byte for each page.
//! Allocated pages aren't touched.

use core::cell::RefCell;
use core::ops::Deref;
use core::ptr::{NonNull, null_mut};

use crate::{MOST, PAGE, Pages, free_range};

const ORDERS: usize = MOST + 1;

/// The unused memory of a machine.
pub trait Memory {
    /// Takes all of it. A second call gets none.
    fn take(&self) -> Buddy;
}

/// The order of a page at which no free piece begins.
const NOT_FREE: u8 = 0xff;

#[repr(C)]
struct Free {
    previous: *mut Free,
    next: *mut Free,
}

/// A buddy allocator.
#[derive(Debug)]
pub struct Buddy {
    /// The first page's address. All pages are from here on; some may belong to other owners.
    start: usize,
    /// For each page: the order of the free piece that begins there.
    orders: *mut u8,
    count: usize,
    lists: [*mut Free; ORDERS],
    free: usize,
}

// SAFETY: an allocator owns the memory to which its pointers lead.
unsafe impl Send for Buddy {}

impl Buddy {
    /// An allocator without pages.
    pub const fn new() -> Buddy {
        Buddy { start: 0, orders: null_mut(), count: 0, lists: [null_mut(); ORDERS], free: 0 }
    }

    /// Bytes of the table of orders for `pages` pages.
    pub const fn beside(pages: usize) -> usize {
        pages
    }

    /// An allocator for the pages from `start` to `end`, none of which is free yet.
    ///
    /// # Safety
    /// `beside` has as many bytes as [`Buddy::beside`] says, as long as the allocator is used.
    pub unsafe fn of(start: usize, end: usize, beside: *mut u8) -> Buddy {
        let count = (end - start) / PAGE;
        // SAFETY: the caller promises that `beside` has `count` bytes.
        unsafe { beside.write_bytes(NOT_FREE, count) };
        Buddy { start, orders: beside, count, ..Buddy::new() }
    }

    /// The number of free pages.
    pub fn free_pages(&self) -> usize {
        self.free
    }

    /// Whether pages of this order can be allocated.
    pub fn has(&self, order: usize) -> bool {
        self.lists.iter().skip(order).any(|list| !list.is_null())
    }

    /// Frees all whole pages between two addresses.
    ///
    /// # Safety
    /// They are unused memory, within the allocator's range.
    pub unsafe fn add(&mut self, start: usize, end: usize) {
        // SAFETY: the caller promises that this memory is unused, and within the allocator's range.
        unsafe { free_range(self, start.next_multiple_of(PAGE), end & !(PAGE - 1)) };
    }

    fn index(&self, page: usize) -> usize {
        (page - self.start) / PAGE
    }

    /// Whether a free piece of this order begins at a page.
    fn is_free(&self, page: usize, order: usize) -> bool {
        // SAFETY: `orders` has a byte for each page.
        page >= self.start
            && self.index(page) < self.count
            && unsafe { *self.orders.add(self.index(page)) } == order as u8
    }

    /// # Safety
    /// The piece is free and in no list.
    unsafe fn put(&mut self, page: usize, order: usize) {
        let piece = page as *mut Free;
        let next = self.lists[order];
        // SAFETY: the caller promises that the piece is free; pieces in lists are free, too.
        unsafe {
            piece.write(Free { previous: null_mut(), next });
            if let Some(next) = next.as_mut() {
                next.previous = piece;
            }
            *self.orders.add(self.index(page)) = order as u8;
        }
        self.lists[order] = piece;
    }

    /// # Safety
    /// The piece is in the list.
    unsafe fn take(&mut self, page: usize, order: usize) {
        // SAFETY: the caller promises that the piece is in the list; so are the pieces before and after it.
        unsafe {
            let Free { previous, next } = (page as *mut Free).read();
            match previous.as_mut() {
                Some(previous) => previous.next = next,
                None => self.lists[order] = next,
            }
            if let Some(next) = next.as_mut() {
                next.previous = previous;
            }
            *self.orders.add(self.index(page)) = NOT_FREE;
        }
    }
}

impl Default for Buddy {
    fn default() -> Buddy {
        Buddy::new()
    }
}

impl Pages for Buddy {
    fn allocate(&mut self, order: usize) -> Option<NonNull<u8>> {
        let mut found = (order..ORDERS).find(|&order| !self.lists[order].is_null())?;
        let piece = self.lists[found];
        // SAFETY: the piece is in that list; both halves of a piece taken out are free.
        unsafe {
            self.take(piece as usize, found);
            while found > order {
                found -= 1;
                self.put(piece as usize + (PAGE << found), found);
            }
        }
        self.free -= 1 << order;
        NonNull::new(piece.cast())
    }

    unsafe fn free(&mut self, pages: NonNull<u8>, mut order: usize) {
        self.free += 1 << order;
        let mut page = pages.addr().get();
        while order + 1 < ORDERS {
            let other = page ^ (PAGE << order);
            if !self.is_free(other, order) {
                break;
            }
            // SAFETY: the piece is free, so it is in the list of its order.
            unsafe { self.take(other, order) };
            page = page.min(other);
            order += 1;
        }
        // SAFETY: the caller promises that the pages aren't used any more; joined pieces were taken from their lists.
        unsafe { self.put(page, order) };
    }
}

/// A buddy allocator for all memory of a machine.
#[derive(Debug)]
pub struct Pool<M> {
    memory: M,
    pages: RefCell<Buddy>,
}

// SAFETY: a pool is used with interrupts off, on one processor.
unsafe impl<M> Sync for Pool<M> {}

impl<M> Pool<M> {
    /// An allocator without memory, until it begins.
    pub const fn new(memory: M) -> Pool<M> {
        Pool { memory, pages: RefCell::new(Buddy::new()) }
    }
}

impl<M: Deref<Target: Memory>> Pool<M> {
    /// Takes the memory.
    ///
    /// # Safety
    /// Called once, before any of the memory is used.
    pub unsafe fn begin(&self) {
        self.pages.replace(self.memory.take());
    }
}

impl<M> crate::Pool for Pool<M> {
    type Pages = Buddy;

    fn pages(&self) -> &RefCell<Buddy> {
        &self.pages
    }
}
