//! Pages by halving: what is asked for is cut out of the smallest free piece that is large enough, and when both halves
//! of a piece are free again, they are one.
//!
//! # Soundness
//!
//! A free piece's links are in it, and its order in a byte for each page beside all pages. What is given isn't touched.

use core::cell::RefCell;
use core::ops::Deref;
use core::ptr::{NonNull, null_mut};

use crate::{MOST, PAGE, Pages, free_range};

const ORDERS: usize = MOST + 1;

/// Where memory is that is nobody's.
pub trait Memory {
    /// All of it. Whoever comes later finds nothing.
    fn take(&self) -> Buddy;
}

/// Of a page: it is not the first of a free piece.
const NOT_FREE: u8 = 0xff;

#[repr(C)]
struct Free {
    previous: *mut Free,
    next: *mut Free,
}

/// See the head of this file.
#[derive(Debug)]
pub struct Buddy {
    /// The first page's address. All that there is are those from here on, of which some may be somebody else's.
    start: usize,
    /// For each page: the order of the free piece that begins there.
    orders: *mut u8,
    count: usize,
    lists: [*mut Free; ORDERS],
    free: usize,
}

// SAFETY: what the pointers lead to belongs to it alone.
unsafe impl Send for Buddy {}

impl Buddy {
    /// Nothing.
    pub const fn new() -> Buddy {
        Buddy { start: 0, orders: null_mut(), count: 0, lists: [null_mut(); ORDERS], free: 0 }
    }

    /// As many bytes are needed beside `pages` pages to know which are free.
    pub const fn beside(pages: usize) -> usize {
        pages
    }

    /// For the pages from `start` to `end`, none of which is free yet.
    ///
    /// # Safety
    /// `beside` are as many bytes as [`Buddy::beside`] says, for as long as this is used.
    pub unsafe fn of(start: usize, end: usize, beside: *mut u8) -> Buddy {
        let count = (end - start) / PAGE;
        // SAFETY: as the caller promises.
        unsafe { beside.write_bytes(NOT_FREE, count) };
        Buddy { start, orders: beside, count, ..Buddy::new() }
    }

    /// Pages that are free.
    pub fn free_pages(&self) -> usize {
        self.free
    }

    /// Whether that many can be given at once.
    pub fn has(&self, order: usize) -> bool {
        self.lists.iter().skip(order).any(|list| !list.is_null())
    }

    /// The pages that lie wholly between two addresses are free from now on.
    ///
    /// # Safety
    /// They are memory that is nobody's, within what this is for.
    pub unsafe fn add(&mut self, start: usize, end: usize) {
        // SAFETY: as the caller promises.
        unsafe { free_range(self, start.next_multiple_of(PAGE), end & !(PAGE - 1)) };
    }

    fn index(&self, page: usize) -> usize {
        (page - self.start) / PAGE
    }

    /// Whether at an address a free piece of an order begins.
    fn is_free(&self, page: usize, order: usize) -> bool {
        // SAFETY: a byte for each page.
        page >= self.start
            && self.index(page) < self.count
            && unsafe { *self.orders.add(self.index(page)) } == order as u8
    }

    /// # Safety
    /// The piece is free and in no list.
    unsafe fn put(&mut self, page: usize, order: usize) {
        let piece = page as *mut Free;
        let next = self.lists[order];
        // SAFETY: as the caller promises; pieces in lists are free, too.
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
        // SAFETY: as the caller promises.
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
        // SAFETY: it is in that list; both halves of what is taken out are free.
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
            // SAFETY: it is free: it is in the list of its order.
            unsafe { self.take(other, order) };
            page = page.min(other);
            order += 1;
        }
        // SAFETY: as the caller promises.
        unsafe { self.put(page, order) };
    }
}

/// All memory of a machine, by halving.
#[derive(Debug)]
pub struct Pool<M> {
    memory: M,
    pages: RefCell<Buddy>,
}

// SAFETY: it is used with interrupts off, on one processor.
unsafe impl<M> Sync for Pool<M> {}

impl<M> Pool<M> {
    /// It has nothing before it begins.
    pub const fn new(memory: M) -> Pool<M> {
        Pool { memory, pages: RefCell::new(Buddy::new()) }
    }
}

impl<M: Deref<Target: Memory>> Pool<M> {
    /// Takes the memory.
    ///
    /// # Safety
    /// Called once, before anybody else has any of it.
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
